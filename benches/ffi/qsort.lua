-- qsort: the C library's sort with a callback.
-- Stresses: callbacks.
-- small: 1
local n = tonumber(arg and arg[1]) or 40
local ffi = require("ffi")
ffi.cdef[[ void qsort(void *base, size_t n, size_t size, int (*compare)(const int32_t *, const int32_t *)); ]]
local count = 10000
local a = ffi.new("int32_t[?]", count)
local compare = ffi.cast("int (*)(const int32_t *, const int32_t *)", function(x, y) return x[0] - y[0] end)
local seed, sum = 42, 0
for _ = 1, n do
  for i = 0, count - 1 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    a[i] = seed % 100000
  end
  ffi.C.qsort(a, count, 4, ffi.cast("int (*)(const int32_t *, const int32_t *)", compare))
  sum = sum + a[0] + a[count / 2] + a[count - 1]
end
print(sum)
