-- A handler is called again for an error of its own, once an error has been caught in it (as in LuaJIT).
local function counting(catches, ends)
  local calls = 0
  local function handler(e)
    calls = calls + 1
    if catches then pcall(error, "caught") end
    if calls < ends then error("again " .. calls) end
    return "call " .. calls .. " for " .. tostring(e)
  end
  return handler, function() return calls end
end
for _, catches in ipairs { false, true } do
  for ends = 1, 4 do
    local handler, calls = counting(catches, ends)
    print(catches, ends, xpcall(error, handler, "first"))
    print(calls())
  end
end
-- The same in a coroutine, and an xpcall in the handler.
print(coroutine.wrap(function()
  local handler = counting(true, 3)
  return xpcall(error, handler, "first")
end)())
local depth = 0
local function nested(e)
  depth = depth + 1
  local shown = tostring(select(2, xpcall(error, function(x) return "inner " .. tostring(x) end, depth)))
  if depth < 3 then error(shown .. " of " .. tostring(e), 0) end
  return shown .. " for " .. tostring(e)
end
print(xpcall(error, nested, "first"))
