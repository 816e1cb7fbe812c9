-- bigint: factorials in arrays of uint32_t, with products of 64 bits.
-- Stresses: conversions between 32 and 64 bits, carries.
-- small: 20
local n = tonumber(arg and arg[1]) or 9000
local ffi, bit = require("ffi"), require("bit")
local band, rshift = bit.band, bit.rshift
local limbs = ffi.typeof("uint32_t[?]")
local size = 4096
local a = limbs(size)
local used = 1
a[0] = 1
for i = 2, n do
  local carry = 0ULL
  local k = ffi.cast("uint64_t", i)
  for j = 0, used - 1 do
    local t = k * a[j] + carry
    a[j] = band(t, 0xffffffffULL)
    carry = rshift(t, 32)
  end
  while carry ~= 0 do
    a[used] = band(carry, 0xffffffffULL)
    carry = rshift(carry, 32)
    used = used + 1
  end
end
local function product(x, nx, y, ny)
  local out = limbs(nx + ny)
  for i = 0, nx - 1 do
    local carry, xi = 0ULL, x[i] + 0ULL
    for j = 0, ny - 1 do
      local t = xi * y[j] + out[i + j] + carry
      out[i + j] = tonumber(band(t, 0xffffffffULL))
      carry = rshift(t, 32)
    end
    out[i + ny] = tonumber(carry)
  end
  return out
end
local p
for _ = 1, math.max(1, n / 400) do p = product(a, used, a, used) end
local sum = 0
for i = 0, used * 2 - 1 do sum = (sum * 31 + p[i]) % 1000003 end
print(used, a[used - 1], sum)
