-- cstrings: strings through C, to and from buffers.
-- Stresses: calls of C functions, ffi.string, ffi.copy.
-- small: 100
local n = tonumber(arg and arg[1]) or 16000000
local ffi = require("ffi")
ffi.cdef[[ size_t strlen(const char *s); int toupper(int c); int memcmp(const void *a, const void *b, size_t n); ]]
local C = ffi.C
local buf = ffi.new("char[64]")
local words = { "alpha", "beta", "gamma", "delta", "epsilon" }
local total, same = 0, 0
for i = 1, n do
  local w = words[i % 5 + 1]
  ffi.copy(buf, w)
  buf[0] = C.toupper(buf[0])
  total = total + tonumber(C.strlen(buf))
  if C.memcmp(buf, "Gamma", 5) == 0 then same = same + #ffi.string(buf) end
end
print(total, same)
