-- A table that each iteration makes for the next one, given to an inlined function with so many guards that its slots are stored on the way
-- (SYNC). Where a guard behind that fails, the function goes on with the table of the iteration before.
local function inc(x)
  if x > 7 then return x + 1 end
  return x
end
local function step(t, k)
  local a, b, c, d = k % 3, k % 5, k % 7, k % 11
  local e, f, g, h = a + b, b + c, c + d, d + a
  local o, p, q, r = e * 2, f * 2, g * 2, h * 2
  local sum = 0
  if k % 101 ~= 0 then sum = sum + 1 end
  if k % 103 ~= 0 then sum = sum + 2 end
  if k % 107 ~= 0 then sum = sum + 2 end
  if k % 109 ~= 0 then sum = sum + 2 end
  if k % 113 ~= 0 then sum = sum + 2 end
  if k % 127 ~= 0 then sum = sum + 2 end
  if k % 131 ~= 0 then sum = sum + 2 end
  if k % 137 ~= 0 then sum = sum + 2 end
  if k % 139 ~= 0 then sum = sum + 2 end
  if k % 149 ~= 0 then sum = sum + 2 end
  if k % 151 ~= 0 then sum = sum + 2 end
  if k % 157 ~= 0 then sum = sum + 2 end
  if k % 163 ~= 0 then sum = sum + 2 end
  if k % 167 ~= 0 then sum = sum + 2 end
  if k % 173 ~= 0 then sum = sum + 2 end
  if k % 179 ~= 0 then sum = sum + 2 end
  if k % 181 ~= 0 then sum = sum + 2 end
  if k % 191 ~= 0 then sum = sum + 2 end
  sum = inc(sum)
  if k % 83 == 0 then sum = sum + t.n end
  return { n = t.n + 1, s = t.s + sum + a + b + c + d + e + f + g + h + o + p + q + r }
end
local t = { n = 0, s = 0 }
for k = 1, 5000 do t = step(t, k) end
print(t.n, t.s)

-- The same, with the table of the iteration before in a variable that is stored on the way, and read in the next iteration.
local prev, acc = { n = -1, s = 0 }, 0
t = { n = 0, s = 0 }
for k = 1, 5000 do
  if k % 79 == 0 then acc = acc + prev.n end
  prev = t
  t = step(t, k)
end
print(t.n, t.s, prev.n, acc)

-- Tables of tables, the rows of which are made anew.
local function mulmod(a, b)
  if a < 5000 and b < 5000 then return a * b % 10007 end
  return (a % 256 * b) % 10007
end
local function matmul(a, b)
  local c = {}
  for i = 1, 2 do
    c[i] = {}
    for j = 1, 2 do c[i][j] = (mulmod(a[i][1], b[1][j]) + mulmod(a[i][2], b[2][j])) % 10007 end
  end
  return c
end
local m, h = { { 1, 1 }, { 1, 0 } }, 0
for i = 1, 20000 do
  m = matmul(m, m)
  if i % 20 == 0 then m = { { 1, 1 }, { 1, i % 9 } } end
  h = (h * 31 + m[1][2]) % 1000003
end
print(h)
