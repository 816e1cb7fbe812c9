-- What a hook may see and change.

-- Open results survive a hook before each instruction.
local letters = {}
for i = 1, 26 do letters[i] = string.char(96 + i) end
local function same(t)
  return table.concat(t) == "abcdefghijklmnopqrstuvwxyz"
end
local function pass(...) return ... end
local function close(...)
  local function keep() end
  return ...
end
local function close_block(...)
  do return ... end
  local function keep() return letters end
end
local function close_upvalue(...)
  local x = ...
  local function keep() return x end
  return ...
end
for _, f in ipairs { pass, close, close_block, close_upvalue } do
  local n = 0
  debug.sethook(function() local a, b, c = "x", "y", "z" n = n + 1 end, "", 1)
  local t = { f(unpack(letters)) }
  local u = select("#", f(unpack(letters)))
  debug.sethook()
  print(same(t), u, n > 4)
end

-- A call hook sets parameters that the caller left out.
local function params(a, b, c) return a, b, c end
local function rest(a, ...) return a, select("#", ...), ... end
local function hooked(f, ...)
  local set = { ... }
  debug.sethook(function()
    if debug.getinfo(2, "f").func ~= f then return end
    for i, v in pairs(set) do debug.setlocal(2, i, v) end
  end, "c")
end
hooked(params, "one")
local a, b, c = params()
debug.sethook()
print(a, b, c)
hooked(params, "one", nil, "three")
a, b, c = params("given")
debug.sethook()
print(a, b, c)
hooked(rest, "first")
a, b, c = rest()
debug.sethook()
print(a, b, c)

-- Lines: the first event, with the hook function made here and elsewhere.
local function lines(s)
  local seen = {}
  local function f(_, line) seen[#seen + 1] = line end
  local here = debug.getinfo(1, "l").currentline
  table.insert(seen, "start")
  debug.sethook(f, "l"); loadstring(s)(); debug.sethook()
  for i, line in ipairs(seen) do
    if type(line) == "number" and line > 40 then seen[i] = "+" .. line - here end
  end
  print(table.concat(seen, " "))
end
lines "\n\ns = nil"
lines "for i = 1, 3 do\n  s = i\nend\n"
lines "while true do\n  break\nend\ns = 1"

-- The name of what runs in the middle of an instruction.
local names = {}
local t = { field = 1 }
debug.sethook(function(event)
  local i = debug.getinfo(1, "n")
  names[tostring(i.name) .. " " .. i.namewhat] = true
end, "", 1)
local x = t.field + 1
t.field = x .. ""
debug.sethook()
local sorted = {}
for name in pairs(names) do sorted[#sorted + 1] = name end
table.sort(sorted)
print(table.concat(sorted, ", "))
