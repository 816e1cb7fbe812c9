-- life8: Conway's game of life on bytes.
-- Stresses: sums of neighbours in an array of uint8_t.
-- small: 5
local n = tonumber(arg and arg[1]) or 1200
local ffi = require("ffi")
local w, h = 256, 256
local a, b = ffi.new("uint8_t[?]", w * h), ffi.new("uint8_t[?]", w * h)
local seed = 42
for i = 0, w * h - 1 do
  seed = (seed * 16807) % 2147483647
  a[i] = seed % 3 == 0 and 1 or 0
end
for _ = 1, n do
  for y = 1, h - 2 do
    local row = y * w
    for x = 1, w - 2 do
      local i = row + x
      local sum = a[i - w - 1] + a[i - w] + a[i - w + 1] + a[i - 1] + a[i + 1] + a[i + w - 1] + a[i + w] + a[i + w + 1]
      b[i] = (sum == 3 or sum == 2 and a[i] == 1) and 1 or 0
    end
  end
  a, b = b, a
end
local alive = 0
for i = 0, w * h - 1 do alive = alive + a[i] end
print(alive)
