-- A handler whose error is handled by another call of it, and so on: an error was caught in each of them. That ends after few levels, since
-- each error looks through all of them for its handler.
local levels = 0
local function body()
  levels = levels + 1
  pcall(error, "caught")
  error "again"
end
print(xpcall(body, function() body() end))
print(levels > 100, levels < 20000)

-- As many levels again after that, on another coroutine, and where the handler ends by itself.
levels = 0
print(coroutine.wrap(function() return xpcall(body, function() body() end) end)())
print(levels > 100)
levels = 0
print(xpcall(body, function(e)
  if levels < 50 then body() end
  return "level " .. levels
end))
for i = 1, 1000 do
  levels = 0
  xpcall(body, function() if levels < 20 then body() end end)
  assert(levels == 20)
end

-- A handler that overflows the stack: the error has no position and no handler.
local function endless() return 1 + endless() end
print(xpcall(error, function() pcall(error) return endless() end))
print(xpcall(endless, function() return endless() end))
print(xpcall(endless, function() return (select(2, pcall(endless))) end))
print(xpcall(error, function() error "again" end))
print(xpcall(error, function() return nil .. "x" end))
