-- Inner loops that run zero, one, few and many times, in changing patterns.

local function inner(n)
  local s = 0
  for j = 1, n do s = s + j end
  return s
end
local total = 0
for i = 1, 500 do total = total + inner(i % 5) end
print(total)
for i = 1, 300 do total = total + inner(i) end
print(total)
total = 0
for _, n in ipairs { 0, 1, 2, 100, 0, 0, 57, 56, 55, 3, 1000, 0, 1 } do
  for _ = 1, 30 do total = total + inner(n) end
end
print(total)

-- Nested in one function, triangular, with data-dependent bounds.
local cells = 0
for i = 1, 60 do
  for j = i, 60 do
    for k = j, math.min(j + i % 4, 60) do cells = cells + k - j + 1 end
  end
end
print(cells)
local seed, log = 3, 0
for i = 1, 400 do
  seed = seed * 16807 % 2147483647
  local n = seed % 4
  if n == 3 then n = seed % 150 end
  local s = 0
  for j = 1, n do s = s + j * i end
  log = (log + s) % 1000003
end
print(log)

-- while and repeat inside for, for inside while.
local steps = 0
for i = 1, 300 do
  local v = i
  while v > 1 do
    v = v % 2 == 0 and v / 2 or 3 * v + 1
    steps = steps + 1
  end
end
print(steps)
steps = 0
for i = 1, 200 do
  local v = 0
  repeat
    v = v + i % 7
    steps = steps + 1
  until v >= 20 or i % 7 == 0
end
print(steps)
local w, rounds = 1, 0
while w < 1000 do
  for j = 1, w % 10 do rounds = rounds + j end
  w = w + 1 + w % 3
end
print(w, rounds)

-- Iterating over lists of different lengths.
local lists = {}
for i = 1, 100 do
  lists[i] = {}
  for j = 1, i % 9 do lists[i][j] = i * j end
end
local sum, empty = 0, 0
for round = 1, 20 do
  for _, list in ipairs(lists) do
    local any = false
    for _, v in ipairs(list) do
      sum = sum + v
      any = true
    end
    if not any then empty = empty + 1 end
  end
end
print(sum, empty)
sum = 0
for round = 1, 20 do for _, list in ipairs(lists) do for k, v in pairs(list) do sum = sum + k * v end end end
print(sum)

-- Steps and directions vary.
sum = 0
for i = 1, 200 do
  local step = i % 3 - 1
  if step == 0 then step = 2 end
  for j = step > 0 and 1 or 10, step > 0 and 10 or 1, step do sum = sum + j * step end
end
print(sum)

-- The same inner loop reached from different outer loops.
local function count_to(limit, step)
  local c = 0
  for _ = 0, limit, step do c = c + 1 end
  return c
end
local cs = 0
for i = 1, 100 do cs = cs + count_to(i, 1) end
for i = 1, 100 do cs = cs + count_to(i, 0.5) end
for i = 1, 100 do cs = cs + count_to(-i, -2) end
local n = 0
while n < 100 do
  n = n + 1
  cs = cs + count_to(n * 3, 7)
end
print(cs)
print("ok")
