-- needs: bit
-- xorshift: 32-bit random numbers, their population count, leading zeros and a rolling hash.
-- Stresses: shifts, rotations, exclusive or and wrap-around of 32-bit integers; small helper functions.
-- small: 2000
local n = tonumber(arg and arg[1]) or 40000000

local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot
local lshift, rshift, rol, tobit = bit.lshift, bit.rshift, bit.rol, bit.tobit

local function step(x)
  x = bxor(x, lshift(x, 13))
  x = bxor(x, rshift(x, 17))
  return bxor(x, lshift(x, 5))
end

local function ones(x)
  x = x - band(rshift(x, 1), 0x55555555)
  x = band(x, 0x33333333) + band(rshift(x, 2), 0x33333333)
  x = band(x + rshift(x, 4), 0x0f0f0f0f)
  x = x + rshift(x, 8)
  return band(x + rshift(x, 16), 0x3f)
end

local function leading_zeros(x)
  x = bor(x, rshift(x, 1))
  x = bor(x, rshift(x, 2))
  x = bor(x, rshift(x, 4))
  x = bor(x, rshift(x, 8))
  x = bor(x, rshift(x, 16))
  return ones(bnot(x))
end

local x, hash, bits, zeros = 0x12345678, 0, 0, 0
for _ = 1, n do
  x = step(x)
  bits = bits + ones(x)
  zeros = zeros + leading_zeros(x)
  hash = tobit(bxor(rol(hash, 7), x) + 0x3c6ef372)
end
print(string.format("last %s hash %s bits %d zeros %d", bit.tohex(x), bit.tohex(hash), bits, zeros))
