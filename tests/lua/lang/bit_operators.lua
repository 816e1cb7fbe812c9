-- Bit operators: those of the bit library, with priorities between comparison and concatenation.

local a, b = 6, 3
print(a & b, a | b, a ~ b, a << b, a >> b, a ~>> b, ~a)
print(7 | 8, ~0, -1 >> 28, -1 ~>> 3, 1 << 31, 1 << 32, 1 << 33, 1 << -1, 5 & 3 ~ 1)
-- Operands are numbers taken modulo 2^32; results are signed.
for _, x in ipairs { 0, -0.0, 1.5, 2.5, -1.5, 2^31, 2^32 + 5, -2^31 - 1, 2^52 + 1, 0xffffffff } do
  print(x, x | 0, ~x, x & 0xff, x ~ -1, x << 4, x >> 4, x ~>> 4)
end
-- Folded or not, the same.
local one, minus, big = 1, -1, 2^40 + 5
print((1 << 33) == (one << 33), (-1 >> 28) == (minus >> 28), (-1 ~>> 3) == (minus ~>> 3), (2^40 + 5 | 0) == (big | 0))
print(~~5, ~-1, -~5, ~one, not ~one, ~#"abc")

-- Priorities.
print(1 | 2 == 3, 5 & 3 == 1, 1 << 2 + 1, 1 + 2 << 1, 3 ~ 1 & 2 | 8, 1 | 6 ~ 2 & 3, "a" .. 1 + 2, 2 .. 3 == "23")
print(-2 ^ 2, 2 ^ -1, ~2 ^ 2, 1 < 2 & 3, 8 >> 1 >> 1, 64 ~>> 2 << 1, 2 << 1 + 1)
print(pcall(loadstring("return 1 .. 2 << 1", "=s")))
print(pcall(loadstring("return (1 .. '') | 1", "=s")))

-- No metamethods, no strings.
local names = { x = "8", nothing = nil }
local function try(source)
  local f, e = loadstring(source, "=try")
  if f then print(source, pcall(setfenv(f, { names = names, setmetatable = setmetatable }))) else print(source, e) end
end
try "return '8' | 1"
try "return 1 & '8'"
try "return ~'8'"
try "return names.x << 1"
try "return 1 >> names.nothing"
try "local t = setmetatable({}, {__bor = 1, __add = 2}) return t | t"
try "local up = {} return (function() return up ~ 1 end)()"
try "return nil ~>> 1"
try "return 1 ~> 2"
try "return 1 <<"
try "return 1 & & 2"
try "return 7 // 2"

-- In loops, and in a dump.
local h = 0
for i = 1, 300 do h = (h << 5 ~ h >> 27 ~ i) & 0x7fffffff | 1 end
print(h)
local function mix(x, y) return x & y | ~x ~ y << 3 ~>> 1 >> 1 end
print(mix(12345, 678), loadstring(string.dump(mix))(12345, 678), string.dump(mix):byte(5), string.dump(mix, true):byte(5))
print(string.dump(function() return 1 | 2 end):byte(5), string.dump(function() return function(x) return ~x end end):byte(5))
