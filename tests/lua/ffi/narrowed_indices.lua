-- Indices that are sums, differences and products: of ints that overflow, of nums with and without fractions.
local ffi = require "ffi"
local buf = ffi.new("uint8_t[?]", 4096)
for i = 0, 4095 do buf[i] = i * 7 % 251 end
local doubles = ffi.new("double[512]")
for i = 0, 511 do doubles[i] = i end

-- Sums, differences and products of ints beyond the ints.
local function beyond(p, from, to, x, k)
  local sum, difference, product, all = 0, 0, 0, 0
  for i = from, to do
    sum = sum + p.sum[i + x]
    difference = difference + p.difference[i - x]
    product = product + p.product[i * k]
    all = all + p.all[(i - from) * k + (x - i) + x]
  end
  return sum, difference, product, all
end
local bytes = ffi.cast("uint8_t *", buf)
local function pointers(from, x, k)
  -- The index of the first byte is subtracted in steps that each fit an int.
  local function back(p, n)
    while n > 2 ^ 30 do p, n = p - 2 ^ 30, n - 2 ^ 30 end
    while n < -2 ^ 30 do p, n = p + 2 ^ 30, n + 2 ^ 30 end
    return p - n
  end
  return {
    sum = back(bytes, from + x), difference = back(bytes, from - x), product = back(bytes, from * k),
    all = back(bytes + 300, 2 * x - from),
  }
end
for _, case in ipairs { { 10, 20, 3 }, { 2 ^ 31 - 60, 55, 2 }, { 2 ^ 31 - 60, 2 ^ 31 - 1, 5 }, { -2 ^ 31, 2 ^ 31 - 1, 3 }, { -2 ^ 31 + 5, -2 ^ 31, 4 } } do
  local from, x, k = unpack(case)
  print(from, x, k, beyond(pointers(from, x, k), from, from + 50, x, k))
end

-- A sum of an int and a num: integers, fractions, zeros of both signs, and one that changes in the loop.
local function shifted(half)
  local sum = 0
  for i = 0, 200 do sum = sum + doubles[i + half] + doubles[200 - i + half] * 3 + doubles[half + i * 1.5] end
  return sum
end
for _, half in ipairs { 8 / 2, 0.5, -0.0, 7.25, 100 / 4, 1e-300 } do print(half, shifted(half)) end
local function changing(half, step)
  local sum = 0
  for i = 0, 200 do
    sum = sum + doubles[i + half]
    half = half + step
  end
  return sum
end
print(changing(0.5 + 0.5, 0), changing(0, 0.25), changing(2.5, 0.5), changing(200 / 2, -0.5))

-- Nums that are far from all ints, truncated; with an int, which cancels them.
local function far(base, n)
  local sum = 0
  local p = ffi.cast("uint8_t *", ffi.cast("intptr_t", bytes) - ffi.cast("intptr_t", n))
  for i = 0, 200 do sum = sum + p[base + i] end
  return sum
end
print(far(2 ^ 31 + 0.0, 2 ^ 31), far(2 ^ 40, 2 ^ 40), far(-2 ^ 33, -2 ^ 33), far(2 ^ 40 + 0.5, 2 ^ 40))

-- A sum that is an index and a value.
local function both(n, x)
  local sum, last = 0, 0
  for i = 1, n do
    local k = i * 3 + x
    sum = sum + buf[k]
    if k % 5 == 0 then last = k end
  end
  return sum, last
end
print(both(300, 10), both(300, 2 ^ 10))

-- Steps that are no constants.
local function steps(from, to, step)
  local sum, n = 0, 0
  for i = from, to, step do sum, n = sum + buf[i % 4096], n + 1 end
  return sum, n
end
print(steps(0, 4000, 7))
print(steps(2 ^ 31 - 5000, 2 ^ 31 - 1, 3))
print(steps(-2 ^ 31 + 5000, -2 ^ 31, -3))

-- Nums with a bound that are stored to small integers.
local small = ffi.new("struct { uint8_t a; int8_t b; uint16_t c; int16_t d; int32_t e; uint32_t f; }")
local function stored(n, factor)
  local sum = 0
  for i = 0, n do
    local y = 0.3 * buf[i] + 0.59 * buf[i + 1] - buf[i + 2] / 3
    small.a, small.b, small.c, small.d, small.e, small.f = y, -y, y * 300, -y * 300, y * 1e6, y * 1e7
    sum = sum + small.a + small.b + small.c + small.d + small.e + small.f
    local z = y * factor
    small.a, small.b, small.c, small.d, small.e, small.f = z, -z, z * 300, -z * 300, z * 1e6, z * 1e7
    sum = sum + small.a + small.b + small.c + small.d + small.e + small.f
  end
  return sum
end
print(stored(200, 1), stored(200, 2 ^ 20), stored(200, 2 ^ 45), stored(200, 1 / 0), stored(200, 0 / 0))
-- The same where what the loop carries outgrows the ints.
local function grown(n)
  local sum, x = 0, 1
  for i = 1, n do
    small.e, small.a = x * 0.5, x * 0.25
    sum = sum + small.e + small.a
    x = x + 100000000
    if x > 4000000000 then x = 1 end
  end
  return sum
end
print(grown(300))
