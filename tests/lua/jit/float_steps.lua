-- for loops with fractional, negative and changing steps that become hot; float arithmetic in loops.

local function run(a, b, s)
  local n, sum, last = 0, 0, nil
  for x = a, b, s do
    n = n + 1
    sum = sum + x
    last = x
  end
  return n, string.format("%.10g %.10g", sum, last or -1)
end
print(run(0, 100, 0.1))
print(run(0, 1, 0.001))
print(run(10, 0, -0.01))
print(run(-5, 5, 0.25))
print(run(1, 300, 1.5))
print(run(300, 1, -2.5))
print(run(0.5, 500.5, 1))
print(run(1, 200.9, 1))
print(run(1e15, 1e15 + 200, 1))
print(run(2 ^ 53 - 100, 2 ^ 53 - 2, 1))
print(run(2 ^ 31 - 100, 2 ^ 31 + 100, 1))
print(run(-2 ^ 31 + 100, -2 ^ 31 - 100, -1))
print(run(0, 2 ^ 31 - 1, 2 ^ 24))
print(run(1e-300, 1e-298, 1e-300))
print(run(0, -1, -1 / 128))
print(run(1, 0, 0.5))

-- The same loop with integers first, fractions later, and integers again.
local out = {}
for i = 1, 10 do
  local step = i % 2 == 0 and 0.5 or 1
  local s = 0
  for x = 1, 100, step do s = s + x end
  out[#out + 1] = s
end
print(table.concat(out, " "))

-- Accumulated rounding is the same as in the interpreter.
local acc = 0
for _ = 1, 10000 do acc = acc + 0.1 end
print(string.format("%.17g", acc))
local x = 1
for _ = 1, 300 do x = x * 1.01 / 1.001 - 0.0001 end
print(string.format("%.17g", x))
local h = 0
for i = 1, 5000 do h = h + 1 / i end
print(string.format("%.17g", h))
local p = 0
for k = 0, 3000 do p = p + (k % 2 == 0 and 4 or -4) / (2 * k + 1) end
print(string.format("%.17g", p))

-- Mixed integers and fractions in one expression, and integers that come back out.
local ints, fracs = 0, 0
for i = 1, 2000 do
  local v = i / 4
  if v == math.floor(v) then ints = ints + v else fracs = fracs + v end
end
print(ints, fracs)
local t = {}
for v = 0.5, 50, 0.5 do t[v * 2] = v end
print(#t, t[1], t[100])
local idx = 0
local arr = { 10, 20, 30, 40 }
for v = 1, 4, 0.25 do idx = idx + (arr[v] or 1) end
print(idx)

-- Newton, bisection, integration, logistic map.
local root = 10
for _ = 1, 100 do root = root - (root * root - 2) / (2 * root) end
print(string.format("%.15g", root))
local lo, hi = 0, 2
for _ = 1, 200 do
  local mid = (lo + hi) / 2
  if mid * mid * mid < 3 then lo = mid else hi = mid end
end
print(string.format("%.15g", lo))
local area = 0
for v = 0, 1 - 1 / 1024, 1 / 1024 do area = area + (v + 1 / 2048) ^ 2 / 1024 end
print(string.format("%.12f", area))
local l = 0.3
for _ = 1, 500 do l = 3.5 * l * (1 - l) end
print(string.format("%.9f", l))

-- The loop variable is changed by the body; the count stays.
local n = 0
for v = 0, 10, 0.1 do
  v = v * 2
  n = n + (v > 10 and 1 or 0)
end
print(n)
print("ok")
