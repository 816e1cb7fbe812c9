-- Bit operations on 64 bits, conversions to numbers and unsigned integers in loops that are compiled.
local ffi, bit = require "ffi", require "bit"
local x, y = 88172645463325252ULL, -5LL
for i = 1, 300 do
  x = bit.bxor(x, bit.lshift(x, 13)); x = bit.bxor(x, bit.rshift(x, 7)); x = bit.bxor(x, bit.lshift(x, 17))
  y = bit.bor(bit.rol(y, i), bit.band(y, 0xff00LL), i) + bit.bswap(y) + bit.arshift(y, 3) + bit.bnot(y) + bit.ror(y, 9LL)
end
print(x, y)
local n, u = 0, ffi.new("uint32_t[4]")
for i = 1, 300 do
  u[0] = u[0] + 1
  n = n + u[0] + tonumber(x) / 1e19 + tonumber(bit.band(y, 255LL))
  u[1] = i * 20000000
  n = n + u[1]
end
print(string.format("%.4f", n), u[0], u[1])
local small = 0
for i = 1, 300 do small = small + tonumber(ffi.cast("uint64_t", i)) + tonumber(ffi.cast("int64_t", i % 7 == 0 and 2 ^ 40 or -i)) end
print(small)
local f, d = ffi.new("float[2]"), ffi.new("double[2]")
local kept = {}
for i = 1, 300 do
  f[0] = i % 3 == 0 and 0 / 0 or i / 3
  d[1] = f[0] + 1
  kept[i] = d[1]
end
local nans, sum = 0, 0
for i = 1, 300 do if kept[i] ~= kept[i] then nans = nans + 1 else sum = sum + kept[i] end end
print(nans, string.format("%.3f", sum))
