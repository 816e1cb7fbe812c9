-- floats: a filter on an array of float.
-- Stresses: conversions between float and double.
-- small: 10
local n = tonumber(arg and arg[1]) or 80000
local ffi = require("ffi")
local size = 4096
local x, y = ffi.new("float[?]", size), ffi.new("float[?]", size)
for i = 0, size - 1 do x[i] = math.sin(i / 10) end
for _ = 1, n do
  for i = 1, size - 2 do y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1] end
  x, y = y, x
end
local s = 0
for i = 0, size - 1 do s = s + x[i] end
print(string.format("%.4f", s))
