-- Numeric loops whose step is not constant: whether the next index fits an integer is checked once, outside of the loop.
local function sum(from, to, step)
  local s, n = 0, 0
  for i = from, to, step do
    s = s + i
    n = n + 1
  end
  return s, n
end

for _, step in ipairs { 1, 3, 7, -1, -5, 2, 1000, -1000 } do
  print(step, sum(1, 300, step), sum(300, 1, step))
end

-- Up to the largest and down to the smallest integer.
local max, min = 2 ^ 31 - 1, -2 ^ 31
for _, step in ipairs { 1, 2, 5, 64, 2 ^ 30, max } do
  print(step, sum(max - 300, max, step), sum(max - 300, max - step, step), sum(min, min + 300, step))
end
for _, step in ipairs { -1, -2, -5, -64, -2 ^ 30, min } do
  print(step, sum(min + 300, min, step), sum(min + 300, min - step, step), sum(max, max - 300, step))
end
-- Beyond them, with fractions, and with a step that becomes one.
print(sum(max - 20, max + 20, 3), sum(1, 10, 0.5), sum(2 ^ 53 - 20, 2 ^ 53, 2))

-- Limit and step change while the loop is compiled: the sum of both overflows from some time on.
local total, rounds = 0, 0
for k = 1, 200 do
  local step = k < 150 and 3 or 2 ^ 24
  local limit = k < 100 and 90 or max - k
  local from = k < 100 and 1 or limit - 40 * step
  for i = from, limit, step do
    total = total + i % 7
    rounds = rounds + 1
  end
end
print(total, rounds)

-- A sieve: the inner loop starts anew with each prime.
local function primes(n)
  local composite, count = {}, 0
  for i = 1, n do composite[i] = false end
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for k = i + i, n, i do composite[k] = true end
    end
  end
  return count
end
print(primes(10), primes(1000), primes(20000))

-- The body assigns to the limit, the step and the index, which are copies.
local function copies(n, step)
  local limit, s = n, 0
  for i = 1, limit, step do
    s = s + i
    limit, step, i = limit - 1, step + 1, i * 2
    s = s + i
  end
  return s
end
print(copies(100, 1), copies(100, 7), copies(1000, 3))
