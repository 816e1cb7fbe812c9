-- Calls of C functions in loops that are compiled.
local ffi = require "ffi"
ffi.cdef [[
int abs(int); long labs(long); int toupper(int c); size_t strlen(const char *s); int atoi(const char *s);
double fabs(double); void *memcpy(void *d, const void *s, size_t n); int memcmp(const void *, const void *, size_t);
void *memset(void *s, int c, size_t n); long long strtoll(const char *, char **, int); char *strchr(const char *s, int c);
void qsort(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *));
int snprintf(char *buf, size_t n, const char *format, ...); typedef struct { int quot, rem; } div_result; div_result div(int, int);
enum { A_CONSTANT = 42 };
]]
local C = ffi.C
local s = 0
for i = 1, 200 do s = s + C.abs(-i) + C.toupper(97 + i % 26) + C.strlen("hello") + C.atoi("12") end
print(s)
local l = 0LL
for i = 1, 200 do l = l + C.labs(-i) + C.strtoll("1234567890123", nil, 10) + C.A_CONSTANT end
print(l)
local d = 0
for i = 1, 200 do d = d + C.fabs(-i / 2) end
print(d)
local buf, copy = ffi.new("uint8_t[16]"), ffi.new("uint8_t[16]")
local equal = 0
for i = 1, 200 do
  buf[i % 16] = i
  C.memcpy(copy, buf, 16)
  if C.memcmp(copy, buf, 16) == 0 then equal = equal + copy[i % 16] end
  C.memset(copy, i, 4)
  equal = equal + copy[0]
end
print(equal)
local found = 0
for i = 1, 200 do
  local p = C.strchr("abc=def", i % 2 == 0 and 61 or 122)
  if p ~= nil then found = found + p[1] end
end
print(found)
local function tail(x) return C.abs(x) end
local function tail2(x) return (tail(x)) end
s = 0
for i = 1, 200 do s = s + tail(-i) + tail2(i) end
print(s)
-- A pointer to a function, one of several.
local f = { C.abs, C.toupper }
s = 0
for i = 1, 200 do s = s + f[i % 2 + 1](i % 100) end
print(s)
-- What is not compiled: callbacks, variable arguments, structs by value.
local t = ffi.new("int[50]")
for i = 0, 49 do t[i] = (i * 37) % 50 end
for _ = 1, 60 do
  C.qsort(t, 50, 4, function(a, b) return ffi.cast("const int *", a)[0] - ffi.cast("const int *", b)[0] end)
  t[0], t[49] = t[49], t[0]
  if _ % 30 == 0 then collectgarbage() end
end
print(t[0], t[1], t[48], t[49])
local text = ffi.new("char[32]")
for i = 1, 100 do C.snprintf(text, 32, "%d %g %s", ffi.new("int", i), i / 4, "x"); local r = C.div(i, 7); s = s + r.quot + r.rem end
print(ffi.string(text), s)
print(pcall(function() for i = 1, 100 do C.abs(i > 90 and "x" or i) end end))
print(pcall(function() for i = 1, 100 do if i > 90 then C.abs() else C.abs(i) end end end))
