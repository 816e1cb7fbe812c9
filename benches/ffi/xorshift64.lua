-- xorshift64: a generator of random numbers on uint64_t.
-- Stresses: shifts and exclusive or on 64 bits.
-- small: 1000
local n = tonumber(arg and arg[1]) or 200000000
local bit = require("bit")
local bxor, lshift, rshift = bit.bxor, bit.lshift, bit.rshift
local x = 88172645463325252ULL
for _ = 1, n do
  x = bxor(x, lshift(x, 13))
  x = bxor(x, rshift(x, 7))
  x = bxor(x, lshift(x, 17))
end
print(x)
