-- int64sum: sums and products of 64-bit integers.
-- Stresses: arithmetic on boxed integers that do not escape.
-- small: 1000
local n = tonumber(arg and arg[1]) or 300000000
local s, p = 0LL, 1LL
for i = 1, n do
  s = s + i
  p = p * 3 + 1
end
print(s, p)
