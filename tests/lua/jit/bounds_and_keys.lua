-- Array accesses at and over the bounds, index arithmetic, constant and variable keys, in hot loops.

-- Indices that run out at both ends; windows; negative and zero.
local a = {}
for i = 1, 200 do a[i] = i * i % 31 end
local s, out = 0, 0
for i = -50, 300 do
  local v = a[i]
  if v then s = s + v else out = out + 1 end
end
print(s, out)
local peaks = 0
for i = 1, 200 do
  local l, m, r = a[i - 1] or -1, a[i], a[i + 1] or -1
  if m > l and m > r then peaks = peaks + 1 end
end
print(peaks)
local zero = { [0] = 10, 20, 30 }
s = 0
for i = 1, 600 do s = s + zero[i % 3] end
print(s)

-- The array grows beyond the bound that was checked.
local g, reads = { 1 }, 0
for i = 1, 500 do
  if i % 5 == 0 then g[#g + 1] = i end
  reads = reads + (g[i % 50 + 1] or 0.5)
end
print(#g, reads)
local shrinking = {}
for i = 1, 500 do shrinking[i] = i end
reads = 0
for i = 1, 500 do
  reads = reads + (shrinking[501 - i] or -1)
  shrinking[501 - i] = nil
  reads = reads + (shrinking[i] or -1)
end
print(reads, #shrinking)

-- Index expressions: sums, products, differences, quotients, bit operations, constants.
local m, w, h = {}, 20, 15
for y = 0, h - 1 do for x = 0, w - 1 do m[y * w + x + 1] = (x * y) % 7 end end
local sum, diag = 0, 0
for y = 1, h - 2 do
  for x = 1, w - 2 do
    local i = y * w + x + 1
    sum = sum + m[i] * 4 - m[i - 1] - m[i + 1] - m[i - w] - m[i + w]
    if x == y then diag = diag + m[i] end
  end
end
print(sum, diag)
local half = 0
for i = 2, 400 do half = half + (a[i / 2] or 1) + (a[(i - i % 4) / 4 + 1] or 2) + a[bit.band(i, 127) + 1] + a[math.floor(i / 3) + 1] end
print(half)

-- Keys of several kinds at the same place.
local t = { 1, 2, 3, x = 10, y = 20, [true] = 30, [1.5] = 40, [-1] = 50 }
local keys = { 1, "x", true, 1.5, -1, 3, "y", "absent", 99, false }
s = 0
for i = 1, 2000 do s = s + (t[keys[i % 10 + 1]] or 0) end
print(s)
for i = 1, 1000 do
  local k = keys[i % 8 + 1]
  t[k] = (t[k] or 0) + 1
end
print(t[1], t.x, t[true], t[1.5], t[-1], t[3], t.y, t.absent)

-- Many different constant keys on objects of different shape.
local shapes = {}
for i = 1, 100 do
  local o = { id = i }
  if i % 2 == 0 then o.a, o.b, o.c = 1, 2, 3 end
  if i % 3 == 0 then o.c, o.d, o.e, o.f, o.g = 4, 5, 6, 7, 8 end
  if i % 5 == 0 then for k = 1, 20 do o["k" .. k] = k end end
  shapes[i] = o
end
s = 0
for round = 1, 20 do
  for i = 1, 100 do
    local o = shapes[i]
    s = s + o.id + (o.a or 0) + (o.b or 0) * 2 + (o.c or 0) * 3 + (o.d or 0) + (o.e or 0) + (o.g or 0) + (o.k7 or 0) + (o.k20 or 0)
    o.last = round
    if round == 10 and i % 7 == 0 then o.a = nil end
  end
end
print(s)

-- Tables as keys, functions as keys, strings made in the loop as keys.
local objs, set = {}, {}
for i = 1, 50 do
  objs[i] = i % 2 == 0 and {} or function() return i end
  set[objs[i]] = i
end
s = 0
for i = 1, 1000 do s = s + set[objs[i % 50 + 1]] + (set[{}] or 0) end
for i = 1, 500 do
  local k = "k" .. i % 20
  set[k] = (set[k] or 0) + 1
end
print(s, set.k0, set.k19)

-- Big and fractional indices, indices at the edge of 32 bits.
local e = {}
for i = 0, 100 do e[2147483600 + i] = i e[-2147483648 - i] = -i end
s = 0
for i = 0, 100 do s = s + e[2147483600 + i] - e[-2147483648 - i] + (e[2147483600.5 + i] or 0) end
print(s)

-- Two-dimensional with rows of changing identity; a row read while it is replaced.
local rows = {}
for y = 1, 30 do rows[y] = {} for x = 1, 30 do rows[y][x] = x + y end end
for k = 1, 60 do
  local y1, y2 = k % 30 + 1, k * 7 % 30 + 1
  rows[y1], rows[y2] = rows[y2], rows[y1]
  local total = 0
  for x = 1, 30 do
    total = total + rows[y1][x]
    if x == 15 then rows[y1] = rows[y2] end
  end
  s = (s * 3 + total) % 1000003
end
print(s)
print("ok")
