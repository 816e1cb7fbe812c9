-- while, repeat, break and the scope of what loop bodies declare.

-- A fresh local for each round, captured by closures.
local fs = {}
local i = 1
while i <= 3 do
  local v = i * 10
  fs[i] = { function() return v end, function(x) v = x end }
  i = i + 1
end
fs[2][2](99)
print(fs[1][1](), fs[2][1](), fs[3][1]())

-- repeat: the condition sees the body's locals, and may capture them.
local n = 0
repeat
  local done = n >= 3
  n = n + 1
until done
print(n)
local captured = {}
local k = 0
repeat
  k = k + 1
  local mine = k
  captured[k] = function() return mine end
until (function() return mine >= 3 end)()
print(captured[1](), captured[2](), captured[3]())

-- A condition closure in repeat with an upvalue changed by the body.
local total = 0
repeat
  local step = total + 1
  local get = function() return step end
  total = total + get()
until step > 50
print(total)

-- break leaves the innermost loop only, and closes upvalues on its way.
local kept
for a = 1, 3 do
  for b = 1, 10 do
    local c = a * b
    if c > 4 then
      kept = function() c = c + 1 return c end
      break
    end
    io.write(c, " ")
  end
end
print(kept(), kept())

while true do
  local x = 5
  local f = function() return x end
  x = 6
  if f() == 6 then break end
end

-- Loop conditions with and, or, not, calls.
local list, at = { 3, 1, 4, 1, 5 }, 1
while list[at] and not (list[at] == 4) do at = at + 1 end
print(at)
local tries = 0
local function try()
  tries = tries + 1
  return tries == 4 or nil
end
while not try() do end
print(tries)
repeat until try() == nil
print(tries)

-- Loops that never run, and loops in loops of other kinds.
while false do error("no") end
while nil do error("no") end
for _ = 1, 0 do error("no") end
for _ in pairs {} do error("no") end
local out = {}
for a = 1, 3 do
  local b = 0
  while b < a do
    b = b + 1
    repeat
      out[#out + 1] = a .. b
      local stop = true
    until stop
  end
end
print(table.concat(out, " "))

-- Generic for with closures, with state and with extra values.
local function count_to(limit)
  local c = 0
  return function()
    c = c + 1
    if c <= limit then return c, c * c, c * c * c end
  end
end
for a, b, c, d in count_to(3) do io.write(a, " ", b, " ", c, " ", tostring(d), "; ") end
print()
local function below(limit, v) if v < limit then return v + 1 end end
local sum = 0
for v in below, 10, 0 do sum = sum + v end
print(sum)
local gs = {}
for v in below, 3, 0 do gs[v] = function() v = v + 100 return v end end
print(gs[1](), gs[2](), gs[3](), gs[1]())
for v in (function(first) local x = first return function() x = x - 1 if x > 0 then return x end end end)(4) do io.write(v, " ") end
print()
print(pcall(function() for _ in nil do end end))
print(pcall(function() for _ in 5 do end end))
print(pcall(function() local t = {} for _ in t do end end))
print(pcall(function() for _ in pairs(nil) do end end))
for a in setmetatable({}, { __call = function(_, s, c) c = (c or 0) + 1 if c < 4 then return c end end }) do io.write(a, ",") end
print()

-- Blocks.
do
  local x = 1
  do
    local x = x + 1
    do local x = x + 1 assert(x == 3) end
    assert(x == 2)
  end
  assert(x == 1)
end
local x = x
assert(x == nil)
local y = 1
local y = y + 1
local y = y + 1
assert(y == 3)
print("ok")
