-- Remainders of ints whose divisor is a variable: all signs, the ends of the ints, a sign that changes while the loop is hot, and
-- remainders that are only compared with 0.
local ends = { 0, 1, -1, 2, -2, 7, -7, 10, 1000003, 2147483647, -2147483647, -2147483648 }

local function remainders(divisors)
  local sum, zeros, last = 0, 0, 0
  for round = 1, 30 do
    for _, x in ipairs(ends) do
      for _, y in ipairs(divisors) do
        local r = x % y
        sum = (sum * 31 + r) % 1000003
        if (x + round) % y == 0 then zeros = zeros + 1 end
        last = r
      end
    end
  end
  return sum, zeros, last
end
print(remainders({ 1, 2, 3, 7, 10, 1000003, 2147483647 }))
print(remainders({ -1, -2, -3, -7, -10, -1000003, -2147483647, -2147483648 }))
print(remainders({ 5, -5, 12, -12, 5, 5, -2147483648, 2147483647 }))

-- The divisor grows; it becomes negative; it becomes 0, and the remainder is no number.
local function divisors(from, to, step)
  local n, c, nans = 720720, 0, 0
  for i = from, to, step do
    if n % i == 0 then c = c + 1 end
    if -n % i == 0 then c = c + 100 end
    if n % i ~= n % i then nans = nans + 1 end
  end
  return c, nans
end
print(divisors(1, 400, 1))
print(divisors(400, 1, -1))
print(divisors(200, -200, -1))
print(divisors(-200, 200, 1))

-- Greatest common divisors: the divisor is the last remainder.
local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end
local sum = 0
for i = -60, 60 do
  for j = -60, 60, 7 do sum = sum + gcd(i * 12, j * 18) end
end
print(sum)

-- A remainder as an index is never negative.
local ring, size = {}, 16
for i = 0, size - 1 do ring[i] = i * i end
local total = 0
for i = -1000, 1000 do total = total + ring[i % size] * ((i * 7) % size) end
print(total)
