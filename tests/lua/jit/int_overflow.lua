-- Integers that leave 32 bits while their loop is hot, in every operation, and come back.

-- A sum passes 2^31, upwards and downwards.
local sum = 0
for i = 1, 100000 do sum = sum + i end
print(sum)
sum = 0
for i = 1, 100000 do sum = sum - i * 3 end
print(sum)
sum = 2147483000
for i = 1, 1000 do sum = sum + 1 end
print(sum)
sum = -2147483000
for i = 1, 1000 do sum = sum - 1 end
print(sum)

-- Forth and back over the border.
local v, over = 2147483500, 0
for i = 1, 3000 do
  v = v + (i % 600 < 300 and 1 or -1)
  if v > 2147483647 then over = over + 1 end
end
print(v, over)

-- Multiplication, powers of two, factorials, Fibonacci.
local p = 1
for i = 1, 100 do
  p = p * 2
  if i == 30 or i == 31 or i == 32 or i == 53 or i == 100 then io.write(string.format("%.0f ", p)) end
end
print()
local f = 1
for i = 1, 25 do f = f * i end
print(string.format("%.0f", f))
local a, b = 0, 1
for _ = 1, 75 do a, b = b, a + b end
print(string.format("%.0f %.0f", a, b))
local m = 0
for i = 46300, 46400 do m = m + (i * i > 2147483647 and 1 or 0) end
print(m)
local sq = 0
for i = 1, 500 do sq = i * 9000000 - i * 8999999 + (i * -5000000) * 2 end
print(sq)

-- Negation and subtraction at the lower end.
local low = -2147483648
local n = 0
for i = 1, 300 do
  local x = -(low + i - 1)
  if x == 2147483648 then n = n + 1 end
  if x > 2147483647 then n = n + 100 end
  if -x == low + i - 1 then n = n + 10000 end
end
print(n)
for i = -2147483648, -2147483400 do n = n + (i - 200 < -2147483648 and 1 or 0) end
print(n)

-- Counters that start near the border.
local c = 2147483600
while c < 2147483700 do c = c + 1 end
print(c)
c = -2147483600
repeat c = c - 7 until c < -2147483700
print(c)
local rounds = 0
for i = 2147483600, 2147483700 do rounds = rounds + 1 end
for i = -2147483600, -2147483700, -1 do rounds = rounds + 1 end
for i = 2147483647 - 100, 2147483647 do rounds = rounds + 1 end
for i = -2147483648 + 100, -2147483648, -1 do rounds = rounds + 1 end
print(rounds)

-- Hashes that rely on the double's 53 bits, and on modulo to come back.
local h = 5381
for i = 1, 2000 do h = (h * 33 + i) % 4294967296 end
print(h)
h = 0
for i = 1, 2000 do h = (h * 1103515245 + 12345) % 2147483648 end
print(string.format("%.0f", h))
local seed = 1
for _ = 1, 1000 do seed = seed * 16807 % 2147483647 end
print(seed)
local big = 0
for i = 1, 300 do big = big + 2 ^ 45 + i end
print(string.format("%.0f", big))

-- As table keys, loop bounds, string arguments after the overflow.
local t = {}
for i = 2147483600, 2147483690 do t[i] = i - 2147483600 end
local keys = 0
for i = 2147483600, 2147483690 do keys = keys + t[i] end
print(keys, t[2147483648], t[2 ^ 31 + 1])
local digits = 0
for i = 2147483600, 2147483690 do digits = digits + #tostring(i) + #(i .. "") end
print(digits)

-- Products of small factors that overflow only sometimes; fields of objects that overflow.
local o = { x = 1, y = -1 }
for i = 1, 400 do
  o.x = o.x * 3
  o.y = o.y * 2 - 1
  if o.x > 1e9 then o.x = o.x % 1000 + 1 end
  if o.y < -3e9 then o.y = -(o.y % 1000) end
end
print(o.x, o.y)
local acc = { 0, 0, 0 }
for i = 1, 900 do acc[i % 3 + 1] = acc[i % 3 + 1] + i * 10000000 end
print(acc[1], acc[2], acc[3])
local mixed = 0
for i = 1, 1000 do mixed = mixed + (i % 2 == 0 and 2147483647 or -2147483648) end
print(mixed)
print("ok")

-- A sum that is only compared, where the outcome follows from its being an int; the loop comes to sums that are none.
local below, above, other, masked = 0, 0, 0, 0
for i = -2147483648, -2147483400 do
  local x = -i - 2
  below = below + (i - 200 < -2147483648 and 1 or 0)
  above = above + (x + 200 > 2147483647.5 and 1 or 0)
  other = other + (x + 100 == 2147483700 and 1 or 0)
  masked = masked + bit.band(x + 100, 0x7fffffff) % 10
end
print(below, above, other, masked)
