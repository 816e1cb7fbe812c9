-- Objects that are built key by key, and left behind by exits at each of these steps: the same keys, in the same order.
local function entries(t)
  local parts = {}
  for k, v in pairs(t) do parts[#parts + 1] = tostring(k) .. "=" .. tostring(v) end
  return parts
end
local function show(t)
  local parts = entries(t)
  table.sort(parts)
  return table.concat(parts, " ")
end

local Class = {}
Class.__index = Class
function Class:sum() return (self.x or 0) + (self.y or 0) end

-- An object is kept at one of the steps.
local kept
local function make(i, step)
  local o = setmetatable({ class = i }, Class)
  if step == 1 then kept = o end
  o.x = i
  if step == 2 then kept = o end
  o.y = -i / 2
  if step == 3 then kept = o end
  o.name = "n" .. i % 3
  if step == 4 then kept = o end
  o.x = o.x + 1
  o.last = false
  if step == 5 then kept = o end
  o.y = nil
  o.other = i % 2 == 0
  if step == 6 then kept = o end
  o.more, o.y = 1, 2
  return o:sum()
end
local s = 0
for step = 0, 6 do
  for i = 1, 150 do s = s + make(i, i % 37 == 0 and step or 0) end
  print(step, s, kept and show(kept), kept and kept:sum())
end

-- Values that are removed before the table grows: a rehash drops their keys.
local source = [[
return function(i, leave)
  local t = { a = 1, b = 2 }
  t.a = nil
  t.c = i
  t.d = 4
  if leave == 1 then return t end
  t.b = nil
  t.c = nil
  t.e = 5
  if leave == 2 then return t end
  t.f = i
  t.g = t.e + t.f
  if leave == 3 then return t end
  return t.g
end
]]
local sparse, interpreted = loadstring(source)(), loadstring(source)()
jit.off(interpreted)
for leave = 1, 3 do
  local sum, last = 0
  for i = 1, 200 do
    local r = sparse(i, i % 61 == 0 and leave or 0)
    if type(r) == "number" then sum = sum + r else last = r end
  end
  -- In the same order as if nothing was compiled.
  local order = table.concat(entries(interpreted(183, leave)), " ")
  print(leave, sum, show(last), table.concat(entries(last), " ") == order)
end

-- A table that others can reach: its keys are not only those that are seen here.
local shared = {}
local function reach(i)
  local t = {}
  t.one = i
  shared.last = t
  shared.fill(i)
  t.two = 2
  return t.one + (t.three or 0) + t.two
end
shared.fill = function(i) if i % 50 == 0 then shared.last.three = i else shared.last.one = 7 end end
local sum = 0
for i = 1, 200 do sum = sum + reach(i) end
print(sum, show(shared.last))

-- Keys that are not known, and an array part.
local names = { "p", "q", "r" }
local function any(i)
  local t = {}
  t[names[i % 3 + 1]] = i
  t.q = (t.q or 0) + 1
  t[1] = "first"
  t.z = t.p
  return t
end
local count, last = 0
for i = 1, 200 do
  last = any(i)
  count = count + last.q + #last
end
print(count, show(last))

-- A table of the iteration before, and one that the loop carries.
local before, total = { v = 0 }, 0
for i = 1, 300 do
  local t = {}
  t.v = i
  t.w = before.v
  total = total + t.w
  if i % 90 == 0 then print(i, show(before), show(t)) end
  before = t
end
print(total, show(before))
