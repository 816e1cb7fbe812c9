-- The math library, without random.

local huge, pi = math.huge, math.pi
local nan = 0 / 0
local function same(a, b) return a == b or (a ~= a and b ~= b) end
local function near(a, b) return math.abs(a - b) <= 1e-12 * math.max(1, math.abs(b)) end

-- Rounding.
for _, v in ipairs { 0, 0.5, -0.5, 1.5, -1.5, 2.999999, -2.999999, 3, -3, 1e15 + 0.5, -1e15 - 0.5, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 0.5, 2 ^ 53, 1e300, huge, -huge, 2 ^ 52 + 0.5, 4503599627370497.5 } do
  print(v, math.floor(v), math.ceil(v), 1 / math.floor(v) == -huge)
end
print(same(math.floor(nan), nan), same(math.ceil(nan), nan), math.floor("3.7"), math.ceil("-3.7"))

-- abs, sqrt, exp, log, powers.
print(math.abs(-5), math.abs(5), math.abs(-0.5), math.abs(-huge), math.abs(-2 ^ 31), math.abs("-3"))
print(math.sqrt(16), math.sqrt(2), math.sqrt(0), same(math.sqrt(-1), nan), math.sqrt(huge))
print(math.exp(0), math.exp(1), math.exp(-huge), math.exp(710), near(math.log(math.exp(3)), 3))
print(math.log(1), math.log(0), same(math.log(-1), nan), math.log10(1000), math.log10(0.01), math.log(8, 2), math.log(1000, 10), near(math.log(27, 3), 3), math.log(huge))
print(math.pow(2, 10), math.pow(2, -1), math.pow(-2, 3), math.pow(0, 0), same(math.pow(-8, 1 / 3), nan), math.pow(2, 0.5) == 2 ^ 0.5, math.pow(huge, -1), math.pow(1, huge), math.pow(0, -1))
for _, p in ipairs { { 2, 3 }, { 2, 0 }, { 10, 15 }, { 1.5, 2 }, { -1.5, 3 }, { 4, 0.5 }, { 2, -2 }, { 3, 33 }, { 7, 22 }, { 0.1, 3 }, { -1, 1e9 }, { 2, 1023 }, { 2, 1024 }, { 2, -1074 } } do
  print(p[1], p[2], string.format("%.14g", p[1] ^ p[2]))
end

-- Trigonometry.
print(math.sin(0), math.cos(0), math.tan(0), near(math.sin(pi / 2), 1), near(math.cos(pi), -1), near(math.tan(pi / 4), 1))
print(near(math.asin(1), pi / 2), math.acos(1), near(math.atan(1), pi / 4), same(math.asin(2), nan), near(math.atan2(1, -1), 3 * pi / 4), math.atan2(0, 1))
print(near(math.atan2(-1, 0), -pi / 2), near(math.atan2(0, -1), pi), math.atan(huge) == pi / 2, same(math.sin(huge), nan))
print(math.sinh(0), math.cosh(0), math.tanh(0), near(math.sinh(1), (math.exp(1) - math.exp(-1)) / 2), math.tanh(100), near(math.cosh(2), (math.exp(2) + math.exp(-2)) / 2))
print(math.deg(pi), math.rad(180) == pi, math.deg(1) * math.rad(1) - 1 < 1e-15, pi, huge, -huge)
for i = -20, 20 do
  local x = i * 0.37
  assert(near(math.sin(x) ^ 2 + math.cos(x) ^ 2, 1) and near(math.sin(2 * x), 2 * math.sin(x) * math.cos(x)))
  assert(near(math.atan(math.tan(x / 10)), x / 10) and near(math.exp(x) * math.exp(-x), 1))
end

-- fmod, modf, frexp, ldexp.
for _, p in ipairs { { 7, 3 }, { -7, 3 }, { 7, -3 }, { -7, -3 }, { 5.5, 2 }, { -5.5, 2 }, { 1, huge }, { 0, 5 }, { 1e300, 7 }, { 2 ^ 31, 3 }, { 6, 3 }, { 0.3, 0.1 } } do
  print(p[1], p[2], string.format("%.14g %.14g", math.fmod(p[1], p[2]), p[1] - math.floor(p[1] / p[2]) * p[2]))
end
print(same(math.fmod(1, 0), nan), same(math.fmod(huge, 1), nan), 1 / math.fmod(-6, 3))
for _, v in ipairs { 3.7, -3.7, 5, -5, 0, 1e300, huge, -huge, 0.25, 2 ^ 52 + 0.5 } do print(v, math.modf(v)) end
print(1 / (select(2, math.modf(-5))), same(math.modf(nan), nan))
for _, v in ipairs { 1, 0.5, 8, -3, 0, 0.1, 1e300, 5e-324, 2 ^ 31, 1023 } do
  local m, e = math.frexp(v)
  print(v, m, e, math.ldexp(m, e) == v)
end
print(math.ldexp(1, 10), math.ldexp(1, -10), math.ldexp(0.5, 1), math.ldexp(3, 0), math.ldexp(1, 2000), math.ldexp(1, -2000), math.ldexp(5, 2.7))

-- min and max.
print(math.max(1, 2, 3), math.max(3), math.max(-1, -2), math.max(1.5, 1), math.max(huge, -huge), math.max("10", 9), math.max(5, 5))
print(math.min(1, 2, 3), math.min(3), math.min(-1, -2), math.min(1.5, 1), math.min(huge, -huge), math.min("10", 9), math.min(2 ^ 31, 2 ^ 31 - 1))
local many = {}
for i = 1, 100 do many[i] = i * 37 % 101 end
print(math.max(unpack(many)), math.min(unpack(many)))

-- Names.
local names = {}
for k, v in pairs(math) do names[#names + 1] = k .. (type(v) == "number" and "#" or "") end
table.sort(names)
print(table.concat(names, " "))
print("ok")
