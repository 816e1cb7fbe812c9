-- floor(x / k) of integers: digits, halves, and values at the ends of the range, which compiled code divides as integers.
local floor = math.floor

local function digits(n, base)
  local sum, count = 0, 0
  while n > 0 do
    sum = sum + n % base
    n = floor(n / base)
    count = count + 1
  end
  return sum, count
end
local total = 0
for i = 1, 3000 do
  local a, b = digits(i * 7919, 10)
  local c, d = digits(i, 7)
  total = total + a * b + c * d
end
print(total, digits(2147483647, 10))

local divisors = { 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 60, 97, 100, 641, 1000, 1024, 65535, 65537, 1000000, 1073741823, 1073741824, 1073741825,
  2147483646, 2147483647 }
local values = { 0, 1, -1, 2, -2, 2147483647, 2147483646, -2147483647, -2147483647 - 1 }
for _, k in ipairs(divisors) do
  for _, m in ipairs { 1, 2, 3, 1000, 65536 } do
    for d = -1, 1 do
      for sign = -1, 1, 2 do
        local v = sign * k * m + d
        if v >= -2147483648 and v <= 2147483647 then values[#values + 1] = v end
      end
    end
  end
  local most = floor(2147483647 / k) * k
  for d = -1, 0 do
    values[#values + 1] = most + d
    values[#values + 1] = d - most
  end
end
-- Each divisor is a constant of its own loop.
local code = [[
local values, floor = ...
local quotients, remainders = 0, 0
for i = 1, #values do
  local v = values[i]
  local q, r = floor(v / $), v % $
  assert(q * $ + r == v and r >= 0 and r < $, v)
  quotients = (quotients + q) % 1000003
  remainders = (remainders + r) % 1000003
end
return quotients, remainders]]
for _, k in ipairs(divisors) do
  local f = assert(loadstring((code:gsub("%$", ("%d"):format(k)))))
  print(k, f(values, floor))
end

-- A quotient that is rounded, and divisors that are none.
local function others(n)
  local a, b, c, d = 0, 0, 0, 0
  for i = -n, n do
    a = a + floor((i + 1) / 2)
    b = b + floor(i / 0.5) + floor(i / -3) + floor(i / 2.5)
    c = c + floor(1 / (floor(i / 4) + 0.5)) + 1 / floor(i / 1e10 + 1)
    d = d + floor((i * 1048576) / 4096) + floor(i / 4294967296)
  end
  return a, b, c, d
end
print(others(3000))
print(1 / floor(0 / 10), 1 / floor(-0.0 / 10), floor(-1 / 10))

-- Binary search and heaps.
local sorted = {}
for i = 1, 1000 do sorted[i] = i * 3 end
local function find(v)
  local low, high, steps = 1, #sorted, 0
  while low <= high do
    local middle = floor((low + high) / 2)
    steps = steps + 1
    if sorted[middle] == v then return middle, steps end
    if sorted[middle] < v then low = middle + 1 else high = middle - 1 end
  end
  return 0, steps
end
local found, steps = 0, 0
for v = 1, 3000 do
  local at, n = find(v)
  found, steps = found + at, steps + n
end
print(found, steps)
