-- Tables that grow, are rehashed, shrink and are refilled inside hot loops.

-- Appending in different ways.
local a, b, c, d = {}, {}, {}, {}
for i = 1, 5000 do
  a[i] = i
  b[#b + 1] = i * 2
  c[5001 - i] = i
  d["k" .. i] = i
end
local n = 0
for _ in pairs(d) do n = n + 1 end
print(#a, #b, #c, n, a[5000], b[2500], c[1], d.k777)

-- Array and hash alternate; keys that jump between both.
local t = {}
for i = 1, 2000 do
  t[i] = i
  t[-i] = -i
  t[i + 0.5] = i
  if i % 3 == 0 then t[i / 3] = "m" .. i end
end
print(#t, t[1], t[666], t[667], t[-2000], t[1000.5])

-- A matrix made row by row; rows of different length.
local m = {}
for i = 1, 60 do
  m[i] = {}
  for j = 1, i do m[i][j] = i * j end
end
local sum = 0
for i = 1, #m do for j = 1, #m[i] do sum = sum + m[i][j] end end
print(sum)

-- Growing while reading behind.
local fib = { 1, 1 }
for i = 3, 70 do fib[i] = fib[i - 1] + fib[i - 2] end
print(string.format("%.0f", fib[70]))
local q, head, tail, out = {}, 1, 0, 0
for i = 1, 3000 do
  tail = tail + 1
  q[tail] = i
  if i % 3 ~= 0 then
    out = out + q[head]
    q[head] = nil
    head = head + 1
  end
end
print(head, tail, out, q[head], q[head - 1])

-- Emptied and filled again with other keys.
local r = {}
for round = 1, 50 do
  for i = 1, 40 do r[round % 2 == 0 and i or "s" .. i] = round + i end
  local s = 0
  for k, v in pairs(r) do
    s = s + v
    r[k] = nil
  end
  sum = sum + s
end
print(sum, next(r))

-- Objects that get their fields in different orders.
local objs = {}
for i = 1, 600 do
  local o = {}
  if i % 2 == 0 then o.x = i o.y = -i else o.y = -i o.x = i end
  if i % 5 == 0 then o.z = 1 o.w = 2 o.v = 3 end
  objs[i] = o
end
local xs, ys, zs = 0, 0, 0
for round = 1, 5 do
  for i = 1, #objs do
    local o = objs[i]
    xs, ys = xs + o.x, ys + o.y
    if o.z then zs = zs + o.z + o.w + o.v end
  end
end
print(xs, ys, zs)

-- A field appears late in the object that the loop uses.
local o = { a = 1 }
local absent = 0
for i = 1, 500 do
  if i == 250 then
    for k = 1, 20 do o["f" .. k] = k end
    o.late = 5
  end
  if o.late == nil then absent = absent + 1 end
  o.a = o.a + (o.late or 0)
end
print(o.a, absent)

-- Counting words: reading and writing absent and present keys.
local counts = {}
for i = 1, 4000 do
  local key = i * i % 1013
  counts[key] = (counts[key] or 0) + 1
end
local distinct, most = 0, 0
for _, v in pairs(counts) do
  distinct = distinct + 1
  if v > most then most = v end
end
print(distinct, most)

-- The length while elements are removed at the end and in front.
local len = 0
for i = 1, 300 do
  a[#a] = nil
  len = len + #a
end
print(#a, len)
local sparse = {}
for i = 1, 1000 do sparse[i * 1000] = i end
sum = 0
for i = 1, 1000 do sum = sum + (sparse[i * 1000] or 0) + (sparse[i] or 0) end
print(sum)
print("ok")
