-- Division and remainder of negative, zero, fractional and large operands in hot loops.

local function checksum(c, v) return (c * 31 + v) % 1000003 end

-- Integers of all signs.
local c = 0
for a = -60, 60 do
  for b = -7, 7 do
    if b ~= 0 then
      local m = a % b
      c = checksum(c, m)
      assert(m == a - math.floor(a / b) * b)
      assert(m == 0 or (m < 0) == (b < 0))
    end
  end
end
print(c)

-- Constant divisors: powers of two and others, positive and negative.
local s2, s3, s8, s10, sm4, sm7, s1 = 0, 0, 0, 0, 0, 0, 0
for i = -1000, 1000 do
  s2, s3, s8, s10, sm4, sm7, s1 = s2 + i % 2, s3 + i % 3, s8 + i % 8, s10 + i % 10, sm4 + i % -4, sm7 + i % -7, s1 + i % 1
end
print(s2, s3, s8, s10, sm4, sm7, s1)

-- Fractions.
local sum = 0
for i = -500, 500 do sum = sum + i / 4 % 1.5 + i % 0.75 - (i + 0.5) % -2 end
print(sum)
local wrap = 0
for i = 1, 1000 do wrap = (wrap + 0.7) % 3 end
print(string.format("%.6f", wrap))

-- Zero divisors: infinities and NaN, now and then.
local inf, minf, nans = 0, 0, 0
for i = -100, 100 do
  local d = i % 10 == 0 and 0 or 1
  local q = i / d
  if q == math.huge then inf = inf + 1 elseif q == -math.huge then minf = minf + 1 elseif q ~= q then nans = nans + 1 end
  local r = i % d
  if r ~= r then nans = nans + 1000 end
end
print(inf, minf, nans)

-- Borders of 32 bits; the smallest integer and minus one.
local low, ones = -2147483648, 0
for i = 1, 300 do
  local d = i % 3 - 1
  if d ~= 0 then
    ones = ones + (low + i % 2) % d
    local q = (low + i % 2) / d
    if q > 2147483647 then ones = ones + 1 end
  end
end
print(ones)
local big = 0
for i = 1, 500 do big = big + (i * 123456789) % 1000 + (i * -987654321) % 77 + 2 ^ 52 % (i + 1) end
print(big)
for i = 1, 300 do big = big + (2147483647 + i) % 10 + (-2147483648 - i) % 10 + 4294967296 % i end
print(big)

-- Integer division by floor; digits, bases, calendars, gcd.
local digits = 0
for i = 1, 2000 do
  local v = i * 7919
  while v > 0 do
    digits = digits + v % 10
    v = (v - v % 10) / 10
  end
end
print(digits)
local function floordiv(a, b) return math.floor(a / b) end
local fd = 0
for a = -50, 50 do for b = -5, 5 do if b ~= 0 then fd = checksum(fd, floordiv(a, b) + 100) end end end
print(fd)
local function base(v, b)
  local out = {}
  repeat
    local d = v % b
    table.insert(out, 1, string.char(d < 10 and 48 + d or 87 + d))
    v = (v - d) / b
  until v == 0
  return table.concat(out)
end
local text = {}
for b = 2, 36 do text[#text + 1] = base(123456, b) end
print(table.concat(text, " "))
local leap = 0
for y = 1, 3000 do if y % 4 == 0 and (y % 100 ~= 0 or y % 400 == 0) then leap = leap + 1 end end
print(leap)
local g = 0
for a = 1, 60 do
  for b = 1, 60 do
    local p, q = a, b
    while q ~= 0 do p, q = q, p % q end
    g = g + p
  end
end
print(g)

-- Divisor changes kind in the loop: integer, fraction, string, infinity.
local acc = 0
local divs = { 3, 2.5, "4", math.huge, -3, 1e-3 }
for i = 1, 600 do
  local d = divs[i % 6 + 1]
  local r = i % d
  acc = acc + (r == r and r or 0) + i / d
end
print(string.format("%.6f", acc))
local ring = {}
for i = 0, 9 do ring[i] = 0 end
for i = -1000, 1000, 3 do ring[i % 10] = ring[i % 10] + 1 end
print(ring[0], ring[1], ring[5], ring[9])
print("ok")
