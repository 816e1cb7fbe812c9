-- libc: small functions of the C library, called in a loop.
-- Stresses: calls of C functions with ints, doubles, pointers and variable arguments.
-- small: 100
local n = tonumber(arg and arg[1]) or 10000000
local ffi = require("ffi")
ffi.cdef[[
  int abs(int); long labs(long); double fabs(double); float sqrtf(float); int isdigit(int);
  void *memchr(const void *s, int c, size_t n); int snprintf(char *s, size_t n, const char *format, ...);
  long strtol(const char *s, char **end, int base); char *strchr(const char *s, int c);
]]
local C = ffi.C
local buf = ffi.new("char[64]")
local stop = ffi.new("char *[1]")
local text = "the year 2024, and 17 more"
local sum = 0
for i = 1, n do
  sum = sum + C.abs(-i % 100) + tonumber(C.labs(-i)) % 7 + C.fabs(-0.5) + C.sqrtf(i % 16) + C.isdigit(48 + i % 20)
  local p = C.strchr(text, 50)
  if p ~= nil then sum = sum + tonumber(C.strtol(p, stop, 10)) + (stop[0] - p) end
  if i % 8 == 0 then sum = sum + C.snprintf(buf, 64, "%d:%s", ffi.cast("int", i), "x") + buf[0] end
end
print(string.format("%.3f", sum), ffi.string(buf))
