-- matmul: the product of two matrices of doubles.
-- Stresses: elements of arrays of arrays.
-- small: 20
local n = tonumber(arg and arg[1]) or 640
local ffi = require("ffi")
local matrix = ffi.typeof("double[?]")
local a, b, c = matrix(n * n), matrix(n * n), matrix(n * n)
for i = 0, n * n - 1 do a[i] = i % 13; b[i] = i % 7 end
for i = 0, n - 1 do
  for j = 0, n - 1 do
    local s = 0
    for k = 0, n - 1 do s = s + a[i * n + k] * b[k * n + j] end
    c[i * n + j] = s
  end
end
print(c[0], c[n * n - 1], c[n + 1])
