-- gcd: the greatest common divisor of 64-bit integers.
-- Stresses: division of 64-bit integers.
-- small: 100
local n = tonumber(arg and arg[1]) or 3000000
local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end
local s = 0LL
for i = 1, n do s = s + gcd(123456789012LL + i, 987654321LL * (i % 100 + 1)) end
print(s)
