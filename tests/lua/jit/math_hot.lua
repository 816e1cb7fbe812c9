-- Math functions in hot loops, on integers, fractions, borders and other kinds.

-- floor and ceil: all ranges, results used as keys and in comparisons.
local f, c, same = 0, 0, 0
for i = -1000, 1000 do
  local v = i / 8
  f, c = f + math.floor(v), c + math.ceil(v)
  if math.floor(v) == math.ceil(v) then same = same + 1 end
end
print(f, c, same)
local t = {}
for i = 1, 800 do
  local k = math.floor(i / 8)
  t[k] = (t[k] or 0) + 1
end
print(t[0], t[1], t[50], t[100], #t)
local big = 0
for i = 1, 300 do
  big = big + math.floor(2 ^ 31 + i + 0.5) - math.ceil(2 ^ 31 - i - 0.5) + math.floor(-2 ^ 31 - i - 0.5) + math.floor(2 ^ 40 + i / 2) % 1000
end
print(string.format("%.0f", big))
local huge = 0
for i = 1, 200 do
  if math.floor(1e300) == 1e300 and math.ceil(-math.huge) == -math.huge then huge = huge + 1 end
  local n = math.floor(0 / 0)
  if n ~= n then huge = huge + 1 end
end
print(huge)

-- abs, min, max with integers, then fractions, then borders.
local a, mn, mx = 0, 0, 0
local list = { 3, -7, 2.5, -0.5, 2147483647, -2147483648, 0, 1e10 }
for i = 1, 1600 do
  local x, y = list[i % 8 + 1], list[i * 3 % 8 + 1]
  a = a + math.abs(x) + math.abs(-y)
  mn = mn + math.min(x, y) + math.min(x, y, 5)
  mx = mx + math.max(x, y) + math.max(1, x, y, -1)
end
print(string.format("%.1f %.1f %.1f", a, mn, mx))

-- sqrt, powers with integer, fractional and negative exponents; integer roots.
local s = 0
for i = 1, 500 do s = s + math.sqrt(i) + i ^ 2 + i ^ 0.5 + 2 ^ (i % 20) + (-1) ^ i + i ^ -1 + i ^ 3 end
print(string.format("%.6f", s))
local squares = 0
for i = 1, 2000 do
  local r = math.sqrt(i)
  if r == math.floor(r) then squares = squares + 1 end
  if r * r == i then squares = squares + 0.001 end
end
print(squares > 44 and squares)
local p = 1
for i = 1, 200 do p = (p * 3) ^ 1 % 1009 + 2 ^ 0 + 0 ^ i end
print(p)

-- exp, log, trigonometry: sums to few digits.
local e, l, tr = 0, 0, 0
for i = 1, 500 do
  local x = i / 100
  e = e + math.exp(x) - math.exp(-x)
  l = l + math.log(x + 1) + math.log10(i) + math.log(i, 2)
  tr = tr + math.sin(x) * math.cos(x) + math.tan(x / 10) + math.atan(x) + math.atan2(x, 2) + math.asin(x / 5) + math.acos(x / 5)
end
print(string.format("%.6f %.6f %.6f", e, l, tr))
local hyp = 0
for i = -100, 100 do hyp = hyp + math.sinh(i / 50) * math.cosh(i / 50) + math.tanh(i / 10) + math.deg(i) + math.rad(i) end
print(string.format("%.6f", math.abs(hyp) < 1e-9 and 0 or hyp))

-- fmod, modf, frexp, ldexp.
local m, ip, fp, fr, ex = 0, 0, 0, 0, 0
for i = -300, 300 do
  m = m + math.fmod(i, 7) + math.fmod(i / 4, 1.5)
  local x, y = math.modf(i / 16)
  ip, fp = ip + x, fp + math.abs(y)
  local u, v = math.frexp(i)
  fr, ex = fr + math.abs(u), ex + v
  if math.ldexp(u, v) ~= i then m = m + 1e9 end
end
print(m, ip, fp, string.format("%.6f", fr), ex)

-- random: the sequence is the same however the code runs.
math.randomseed(42)
local r, ri, rr = 0, 0, 0
for i = 1, 1000 do
  r = r + math.random()
  ri = (ri * 3 + math.random(100)) % 10007
  rr = rr + math.random(-50, i)
end
print(string.format("%.9f", r), ri, rr)
math.randomseed(7)
local inside = 0
for _ = 1, 5000 do
  local x, y = math.random(), math.random()
  if x * x + y * y < 1 then inside = inside + 1 end
end
print(inside)

-- Functions by other names, through tables, changing in the loop; wrong arguments in between.
local fns, out = { math.floor, math.ceil, math.abs, math.sqrt }, 0
for i = 1, 800 do out = out + fns[i % 4 + 1](i / 3) end
print(string.format("%.6f", out))
local errors = 0
for i = 1, 300 do
  local v = i % 30 == 0 and "bad" or i % 7 == 0 and tostring(i) or i
  local ok, x = pcall(math.floor, v)
  if not ok then errors = errors + 1 elseif x ~= i then errors = errors + 1000 end
end
print(errors)

-- Gcd, primes by wheel, digits sums, mean and deviation, as in ordinary programs.
local function gcd(x, y) while y ~= 0 do x, y = y, math.fmod(x, y) end return math.abs(x) end
local g = 0
for i = 1, 300 do g = g + gcd(i * 6, 84) end
local mean, m2 = 0, 0
for i = 1, 1000 do
  local x = (i * 37 % 101) / 10
  local d = x - mean
  mean = mean + d / i
  m2 = m2 + d * (x - mean)
end
print(g, string.format("%.9f %.9f", mean, math.sqrt(m2 / 1000)))
print("ok")
