-- memcpy: copies of bytes, by loops and by ffi.copy and ffi.fill.
-- Stresses: loops over bytes, raw memory that changes.
-- small: 10
local n = tonumber(arg and arg[1]) or 2500000
local ffi = require("ffi")
local size = 1024
local a, b = ffi.new("uint8_t[?]", size), ffi.new("uint8_t[?]", size)
local sum = 0
for i = 1, n do
  ffi.fill(a, size, i % 256)
  for j = 0, 255 do b[j] = a[j + 256] end
  ffi.copy(a + 512, b, 256)
  a[i % size] = 7
  sum = sum + a[i % 1000] + b[i % 256] + a[600]
end
print(sum)
