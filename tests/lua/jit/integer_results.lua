-- Results of math functions that are integers: sums of them remain integers in the interpreter, and do in compiled code.

local points = { { 3, 4 }, { 5, 12 }, { 8, 15 } }
local length, whole = 0, 0
for i = 1, 400 do
  local p = points[i % 3 + 1]
  length = length + math.sqrt(p[1] * p[1] + p[2] * p[2])
end
print(length)
for i = 1, 400 do whole = whole + math.sqrt(i * i) + math.pow(2, i % 5) end
print(whole)

local ones = 0
for i = 1, 400 do ones = ones + math.exp(0) + math.cos(0) + math.log(1) + math.sin(0) + math.log10(100) end
print(ones)
local angles = 0
for i = 1, 400 do angles = angles + math.deg(0) + math.rad(0) + math.atan2(0, 1) + math.ldexp(3, i % 4) end
print(angles)

-- Some are none.
local mixed, seldom = 0, 0
for i = 1, 400 do
  mixed = mixed + math.sqrt(i % 4 == 0 and 16 or 2)
  if i > 300 then seldom = seldom + math.sqrt(i) else seldom = seldom + math.sqrt(49) end
end
print(("%.6f %.6f"):format(mixed, seldom))

-- A getter.
local vector = setmetatable({ x = 3, y = 4 }, {
  __index = function(v, key) if key == "length" then return math.sqrt(v.x * v.x + v.y * v.y) end return 1 end,
})
local got = 0
for i = 1, 400 do got = got + vector.length + vector.other end
print(got)

-- A zero has its sign.
local zeros = { 0, -1 / math.huge }
local signs = ""
for i = 1, 60 do signs = signs .. (1 / math.sqrt(zeros[i % 2 + 1]) > 0 and "+" or "-") end
print(signs)

-- Random integers in sums as those of hash functions.
math.randomseed(11)
local hash, inside = 7, 0
for i = 1, 400 do
  local r = math.random(100)
  hash = (hash * 3 + r) % 10007
  inside = inside + (r >= 1 and r <= 100 and r % 1 == 0 and 1 or 0)
end
print(inside, hash % 1)
