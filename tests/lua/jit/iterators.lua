-- ipairs, pairs, next and own iterators in hot loops, over tables that change.

local arr, map = {}, {}
for i = 1, 300 do arr[i] = i end
for i = 1, 300 do map["k" .. i] = i end

-- All of them over unchanged tables.
local s1, s2, s3, s4, s5 = 0, 0, 0, 0, 0
for round = 1, 10 do
  for i, v in ipairs(arr) do s1 = s1 + i * v end
  for k, v in pairs(arr) do s2 = s2 + k * v end
  for k, v in pairs(map) do s3 = s3 + v + #k end
  local k, v = next(map)
  while k do
    s4 = s4 + v
    k, v = next(map, k)
  end
  for k2, v2 in next, map do s5 = s5 + v2 * 2 end
end
print(s1, s2, s3, s4, s5)

-- ipairs that stops at a hole which moves; values that change type.
local total, stops = 0, 0
for round = 1, 100 do
  arr[round * 3] = nil
  local n = 0
  for i, v in ipairs(arr) do
    n = i
    total = total + v
  end
  stops = stops + n
  arr[round * 3] = round % 2 == 0 and round or round + 0.5
end
print(total, stops)
local kinds = {}
for i = 1, 200 do kinds[i] = i % 3 == 0 and "s" .. i or i % 3 == 1 and i or { i } end
local n, s, t = 0, 0, 0
for round = 1, 5 do
  for _, v in ipairs(kinds) do
    if type(v) == "number" then n = n + v elseif type(v) == "string" then s = s + #v else t = t + v[1] end
  end
end
print(n, s, t)

-- pairs while values change and entries are cleared.
for round = 1, 20 do
  for k, v in pairs(map) do
    if v % 20 == round then map[k] = nil else map[k] = v + 20 end
  end
end
local left = 0
for _, v in pairs(map) do left = left + 1 end
print(left, next(map) == nil)
for round = 1, 50 do
  local tmp = { a = 1, b = 2, c = 3, 10, 20, 30 }
  local sum = 0
  for k, v in pairs(tmp) do
    sum = sum + v
    tmp[k] = nil
  end
  total = total + sum + (next(tmp) and 1000000 or 0)
end
print(total)

-- Tables of all shapes: empty, array only, hash only, both.
local shapes, visited, weight = { {}, { 1 }, { x = 1 }, { 1, 2, x = 3, y = 4 }, { [0] = 1, [-1] = 2, [1.5] = 3 }, { [1e9] = 1, true, false } }, 0, 0
for round = 1, 200 do
  for k, v in pairs(shapes[round % 6 + 1]) do
    visited = visited + 1
    if type(v) == "number" then weight = weight + v end
  end
end
print(visited, weight)

-- Own iterators: stateless, closures, objects, with several values, ended by nil and by false.
local function upto(limit, i) if i < limit then return i + 1 end end
local up = 0
for i in upto, 2000, 0 do up = up + i end
local function pairs_by_two(list) local i = -1 return function() i = i + 2 if list[i] then return i, list[i], list[i + 1] end end end
local even, odd = 0, 0
for round = 1, 5 do for i, a, b in pairs_by_two(arr) do odd, even = odd + (a or 0), even + (b or 0) end end
print(up, odd, even)
local falses = 0
for v in function(_, c) if (c or 0) == false then return nil end c = (c or 0) + 1 if c > 500 then return nil end return c end do falses = falses + v end
print(falses)
local Range = {}
Range.__index = Range
Range.__call = function(self) self.at = self.at + self.step if self.at <= self.stop then return self.at end end
local rsum = 0
for r = 1, 40 do for v in setmetatable({ at = 0, stop = r * 2, step = 2 }, Range) do rsum = rsum + v end end
print(rsum)

-- Nested iteration, iteration in functions called from iterations, breaks.
local common = 0
for _, a in ipairs { 5, 10, 15, 20 } do for _, b in pairs(arr) do if a == b then common = common + 1 break end end end
local function count(tb) local c = 0 for _ in pairs(tb) do c = c + 1 end return c end
local counted = 0
for _, sh in ipairs(shapes) do for round = 1, 50 do counted = counted + count(sh) end end
print(common, counted)

-- The iterator function changes between loops at the same place.
local its = { ipairs, pairs, function(tb) return next, tb end, function(tb) local i = 0 return function() i = i + 1 if tb[i] ~= nil then return i, tb[i] end end end }
local mixed = 0
for round = 1, 400 do
  for k, v in its[round % 4 + 1](round % 8 < 4 and { 1, 2, 3 } or { 4, 5 }) do mixed = mixed + k * v end
end
print(mixed)

-- gmatch, string iteration, io.lines-like closures.
local words = 0
for round = 1, 50 do for w, num in ("a=1 b=22 c=333"):gmatch("(%w)=(%d+)") do words = words + #num * num end end
print(words)
local inserted = {}
for round = 1, 100 do
  for i, v in ipairs { 1, 2, 3 } do inserted[#inserted + 1] = v * round end
  for i = #inserted, math.max(1, #inserted - 1), -1 do inserted[i] = nil end
end
print(#inserted, inserted[#inserted])
print("ok")
