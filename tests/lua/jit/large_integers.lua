-- Sums of large integers that do not overflow, because a remainder is taken each time: they stay integers, so that a loop which begins with
-- integers ends with them. Elements of one table, some of which are integers and some not.
local function fibonacci(n, m)
  local a, b = 1, 1
  for _ = 1, n do a, b = b, (a + b) % m end
  return a, b
end
print(fibonacci(500, 1000000007))
local function weigh(n)
  local t, weight, count = { 1, 0.5 }, 0.25, 0
  for i = 1, n do
    t[2] = i % 3 == 0 and 1 or 0.5
    weight, count = weight + t[2], count + t[1]
  end
  return weight, count
end
print(weigh(500))
