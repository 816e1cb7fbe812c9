-- Literals that are cdata: 64-bit integers and imaginary numbers.
print(type(1LL), 42LL, 42ll, 0xffffffffffffffffull, 18446744073709551615ULL, 9223372036854775808LL)
print(-1LL, -0x8000000000000000LL, -1ULL, 0x7fffffffffffffffll, 0b1011LL, 1LLu)
print(12.5i, -2i, 0x10i, 1e100i, 0i, 1e999i)
-- They are objects: each time the same one.
local function constant() return 7LL end
print(rawequal(constant(), constant()))
local t = { [constant()] = "found" }
print(t[constant()], t[7LL])
-- In bytecode.
local f = loadstring(string.dump(function() return 1LL, 0xfedcba9876543210ULL, 2.5i end))
print(f())
local g = loadstring(string.dump(function() return function() return -3LL end end, true))
print(g()())
for _, source in ipairs { "1.5LL", "0x1p3LL", "1LLL", "0x1ffffffffffffffffLL", "18446744073709551616LL", "1iLL", "1LLi", "0xLL" } do
  print(source, loadstring("return " .. source))
end
