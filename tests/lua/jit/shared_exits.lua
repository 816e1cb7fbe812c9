-- Paths that part and come together again, with a rarer part after that: what is compiled there for one of them must be right for all that
-- come to use it, whatever each has in its slots, in registers and in objects that it did not make yet.
local N = 4000

local function numbers()
  local sum, last = 0, 0
  for i = 1, N do
    local x, y
    if i % 3 == 0 then x, y = i, 0.5 elseif i % 3 == 1 then x, y = i + 1, 1.5 else x, y = -i, 2.5 end
    if i % 5 == 2 then sum = sum + x * y; last = x end
    if i % 7 == 3 then sum = sum - y end
  end
  return sum, last
end
print("numbers", numbers())

local function kinds()
  local seen = { number = 0, string = 0, boolean = 0, ["nil"] = 0, table = 0, ["function"] = 0 }
  local values = { 1, "two", true, 2.5, { 3 }, print, false }
  for i = 1, N do
    local v
    if i % 2 == 0 then v = values[i % 8] else v = values[(i + 3) % 8] end
    if i % 3 ~= 0 then seen[type(v)] = seen[type(v)] + 1 end
  end
  return seen.number, seen.string, seen.boolean, seen["nil"], seen.table, seen["function"]
end
print("kinds", kinds())

local function constants()
  local out = 0
  for i = 1, N do
    local a, b = nil, false
    if i % 2 == 0 then a = nil; b = 7 elseif i % 4 == 1 then a = true; b = 7 else a = true; b = 8 end
    if i % 5 == 0 then out = out + (a and b or -b) end
  end
  return out
end
print("constants", constants())

-- Objects: one path makes one that only the exit needs, the other finds one.
local function objects()
  local kept, total = { x = 1, y = 2 }, 0
  for i = 1, N do
    local o
    if i % 2 == 0 then o = { x = i, y = -i } else o = kept end
    if i % 6 < 2 then
      total = total + o.x + o.y * 2
      o.x = o.x + 1
    end
  end
  return total, kept.x, kept.y
end
print("objects", objects())

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Point) end
function Point:norm() return self.x * self.x + self.y * self.y end
local function point(x, y) return setmetatable({ x = x, y = y }, Point) end
local function classes()
  local origin, here, far = point(0, 0), point(0, 0.5), 0
  for i = 1, N do
    local step
    if i % 3 == 0 then step = point(1, 0) elseif i % 3 == 1 then step = point(0, 0.25) else step = origin end
    here = here + step
    if i % 11 == 0 then here = point(here.x % 17, here.y % 13) end
    if here:norm() > 100 then far = far + 1 end
  end
  return here.x, here.y, far
end
print("classes", classes())

-- After calls that were inlined, and after their returns.
local function choose(i, a, b)
  if i % 2 == 0 then return a end
  if i % 3 == 0 then return b, a end
  return a + b
end
local function inner(i, v)
  local x, y = choose(i, v, i)
  if i % 5 == 1 then return x + (y or 1) end
  return x
end
local function calls()
  local sum = 0
  for i = 1, N do
    local v
    if i % 4 < 2 then v = inner(i, 10) else v = inner(i + 1, 20) end
    if i % 7 == 0 then sum = sum + v * 2 else sum = sum + v end
  end
  return sum
end
print("calls", calls())

local function several(i)
  if i % 2 == 0 then return i, i + 1 elseif i % 3 == 0 then return i end
  return
end
local function results()
  local sum, n = 0, 0
  for i = 1, N do
    local t
    if i % 5 < 3 then t = { several(i) } else t = { 0, several(i) } end
    n = n + #t
    if i % 7 < 2 then sum = sum + select("#", several(i)) + (t[1] or 0) end
  end
  return sum, n
end
print("results", results())

local function varying(...)
  local n = select("#", ...)
  if n > 1 then return (select(2, ...)) + n end
  return (...) or -1
end
local function varargs()
  local sum = 0
  for i = 1, N do
    local v
    if i % 3 == 0 then v = varying(i, 1) elseif i % 3 == 1 then v = varying(i) else v = varying() end
    if i % 4 == 0 then sum = sum + v else sum = sum - 1 end
  end
  return sum
end
print("varargs", varargs())

-- Closures that share variables, and variables that are closed on one path only.
local function closures()
  local total, kept = 0, nil
  for i = 1, N do
    local n = i
    local f
    if i % 2 == 0 then f = function() n = n + 1; return n end else f = function() return n * 2 end end
    if i % 9 == 0 then kept = f end
    if i % 5 < 2 then total = total + f() end
    if kept and i % 10 == 1 then total = total + kept() end
  end
  return total
end
print("closures", closures())

local function strings()
  local parts, n = {}, 0
  for i = 1, N do
    local s
    if i % 2 == 0 then s = "e" .. i elseif i % 3 == 0 then s = ("t"):rep(i % 4) else s = "plain" end
    if i % 5 == 0 then n = n + #s end
    if i % 401 == 0 then parts[#parts + 1] = s end
  end
  return n, table.concat(parts, ",")
end
print("strings", strings())

-- Recursion from both sides of a join.
local function walk(depth, left)
  local v
  if left then v = depth else v = depth * 0.5 end
  if depth == 0 then return 1 end
  if depth % 3 == 0 then return v + walk(depth - 1, not left) end
  return walk(depth - 1, left) + walk(depth - 2 > 0 and depth - 2 or 0, not left)
end
local function trees()
  local sum = 0
  for i = 1, 60 do sum = sum + walk(i % 14, i % 2 == 0) end
  return sum
end
print("trees", trees())

local function iterators()
  local list, map, sum = {}, {}, 0
  for i = 1, 50 do list[i] = i % 3 == 0 and i + 0.5 or i end
  for i = 1, 50 do map[i * 2] = i end
  for round = 1, N / 40 do
    local gather
    if round % 2 == 0 then gather = list else gather = map end
    for k, v in (round % 2 == 0 and ipairs or pairs)(gather) do
      local x
      if k % 2 == 0 then x = v else x = -v end
      if k % 5 == round % 5 then sum = sum + x end
    end
  end
  return sum
end
print("iterators", iterators())

local function threads()
  local sum = 0
  local co = coroutine.wrap(function()
    local n = 0
    while true do
      n = n + 1
      local v
      if n % 2 == 0 then v = n else v = n + 0.5 end
      if n % 3 == 0 then v = v * 2 end
      coroutine.yield(v)
    end
  end)
  for i = 1, N do
    local v = co()
    if i % 5 == 0 then v = -v end
    if i % 7 < 3 then sum = sum + v end
  end
  return sum
end
print("threads", threads())

-- An error after a join is that of the line where it happens, with what the path had in hand.
local function failing(i)
  local t
  if i % 2 == 0 then t = { n = i } else t = { n = i, extra = 1 } end
  if i % 1000 == 0 then t = nil end
  return t.n
end
local caught, sum = {}, 0
for i = 1, N do
  local ok, v = pcall(failing, i)
  if ok then sum = sum + v else caught[#caught + 1] = v:match(":%d+: .*") end
end
print("errors", sum, #caught, caught[1], caught[#caught])
