-- Nested hot loops left by break, return and error from different depths.

local function search(grid, v)
  for y = 1, #grid do
    for x = 1, #grid[y] do
      if grid[y][x] == v then return x, y end
    end
  end
end
local grid = {}
for y = 1, 30 do
  grid[y] = {}
  for x = 1, 30 do grid[y][x] = (x * 31 + y * 17) % 211 end
end
local sx, sy, none = 0, 0, 0
for v = 0, 230 do
  local x, y = search(grid, v)
  if x then sx, sy = sx + x, sy + y else none = none + 1 end
end
print(sx, sy, none)

-- Primes by trial division; the inner loop is left early most times.
local primes = {}
for n = 2, 2000 do
  local prime = true
  for d = 2, n - 1 do
    if d * d > n then break end
    if n % d == 0 then
      prime = false
      break
    end
  end
  if prime then primes[#primes + 1] = n end
end
print(#primes, primes[#primes])
local twins = 0
for i = 1, #primes do
  for j = i + 1, #primes do
    if primes[j] - primes[i] == 2 then
      twins = twins + 1
      break
    elseif primes[j] - primes[i] > 2 then
      break
    end
  end
end
print(twins)

-- Three levels with breaks at all of them.
local c1, c2, c3 = 0, 0, 0
for a = 1, 60 do
  c1 = c1 + 1
  for b = 1, 60 do
    c2 = c2 + 1
    for c = 1, 60 do
      c3 = c3 + 1
      if c > a then break end
    end
    if b * 2 > a then break end
  end
  if a > 55 then break end
end
print(c1, c2, c3)

-- break out of while in for, for in repeat, with the outer going on.
local log = 0
for i = 1, 200 do
  local k = i
  while true do
    k = k - 7
    if k < 0 then break end
    if k == 3 then log = log + 1000 break end
    log = log + 1
  end
end
local r = 0
repeat
  r = r + 1
  for j = 1, 100 do
    if j * j > r then
      log = log + j
      break
    end
  end
until r == 400
print(log)

-- The break is taken for the first time after the loop is compiled.
local function first_above(t, limit)
  for i = 1, #t do if t[i] > limit then return i, t[i] end end
  return nil
end
local t = {}
for i = 1, 1000 do t[i] = i * 3 end
print(first_above(t, 5000), first_above(t, 2998), first_above(t, 100), first_above(t, 0), first_above(t, 2999))

-- Loops that end by an error in the middle.
local at = 0
for limit = 1, 50 do
  pcall(function()
    for a = 1, 20 do
      for b = 1, 20 do
        at = at + 1
        if a * b == limit then error("found") end
      end
    end
  end)
end
print(at)

-- Sorting by insertion and by bubbles with early ends; matching; collatz with memory.
local list = {}
for i = 1, 120 do list[i] = i * 67 % 127 end
local moves = 0
for i = 2, #list do
  local v, j = list[i], i - 1
  while j >= 1 and list[j] > v do
    list[j + 1] = list[j]
    j = j - 1
    moves = moves + 1
  end
  list[j + 1] = v
end
local passes = 0
for i = 1, 100 do list[i] = i * 13 % 101 end
for p = 1, #list do
  local swapped = false
  for j = 1, #list - p do
    if list[j] > list[j + 1] then
      list[j], list[j + 1] = list[j + 1], list[j]
      swapped = true
    end
  end
  passes = p
  if not swapped then break end
end
print(moves, passes, list[1], list[120])
local text, pattern, where = ("ab"):rep(50) .. "abc" .. ("ab"):rep(50), "bca", 0
for i = 1, #text - #pattern + 1 do
  local ok = true
  for j = 1, #pattern do
    if text:byte(i + j - 1) ~= pattern:byte(j) then
      ok = false
      break
    end
  end
  if ok then
    where = i
    break
  end
end
print(where)
local known, longest = { [1] = 0 }, 0
for n = 2, 3000 do
  local v, steps = n, 0
  while not known[v] do
    v = v % 2 == 0 and v / 2 or 3 * v + 1
    steps = steps + 1
  end
  known[n] = steps + known[v]
  if known[n] > longest then longest = known[n] end
end
print(longest, known[27], known[2999])
print("ok")
