-- C functions: arguments, results, errors, errno, namespaces of libraries.
local ffi = require "ffi"
local C = ffi.C
ffi.cdef [[
int abs(int); double sqrt(double); size_t strlen(const char *); int toupper(int);
int snprintf(char *, size_t, const char *, ...);
char *strchr(const char *, int); void *memcpy(void *, const void *, size_t);
typedef struct { int quot, rem; } div_t; div_t div(int, int);
typedef struct { long quot, rem; } ldiv_t; ldiv_t ldiv(long, long);
int my_abs(int) __asm__("abs"); int is_not_there(int); int open(const char *, int, ...);
extern int optind; extern const int optopt;
enum { SEVEN = 7, MINUS = -1 }; static const unsigned LARGE = 0xffffffff;
double cos(double); bool isalpha_b(int) __asm__("isalpha"); float fabsf(float); long long llabs(long long);
]]
print(C.abs(-5), C.sqrt(2), C.strlen("hello"), C.toupper(97), C.my_abs(-7), C.SEVEN, C.MINUS, C.LARGE)
print(C.fabsf(-0.5), C.llabs(-2^40), C.isalpha_b(65), C.isalpha_b(32))
print(C.abs(true and -3.9), C.abs(-3LL), C.abs(ffi.new("int8_t", -4)), C.strlen(ffi.new("char[4]", "abc")))

-- Variable arguments: numbers are doubles, cdata are what they are.
local buf = ffi.new("char[128]")
local n = C.snprintf(buf, 128, "%d %s %g %lld %llu %p %g", ffi.new("int", 5), "text", 1.5, -12LL, 12ULL, nil, ffi.new("float", 0.25))
print(n, ffi.string(buf))
n = C.snprintf(buf, 128, "%g %g %g %g %g %g %g %g %g %g %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ffi.new("int", 11))
print(n, ffi.string(buf, n))

-- Structs as results.
local d, l = C.div(17, 5), C.ldiv(-170, 7)
print(d.quot, d.rem, l.quot, l.rem, ffi.istype("div_t", d), ffi.sizeof(l))

-- Pointers.
local text = ffi.new("char[?]", 6, "hello")
local at = C.strchr(text, 108)
print(at - text, ffi.string(at), C.strchr(text, 120) == nil)

-- Errors.
print(pcall(C.abs)) print(pcall(C.abs, 1, 2)) print(pcall(C.abs, {})) print(pcall(C.abs, "x")) print(pcall(C.strlen, 1))
print(pcall(C.abs, 1LL, nil)) print(pcall(C.snprintf, buf, 128)) print(pcall(C.snprintf, buf, 128, "%d", print))
print((pcall(function() return C.is_not_there(1) end)))
print(pcall(function() return C.undeclared end)) print(pcall(function() C.undeclared = 1 end))
print(pcall(function() C.abs = 1 end)) print(pcall(function() C.SEVEN = 1 end)) print(pcall(function() C.optopt = 1 end))
print(pcall(function() return C[1] end)) print((pcall(ffi.load, "no such library")))

-- Variables.
print(C.optind) C.optind = 3 print(C.optind) C.optind = 1

-- The number of the last error stays what it is while the collector and the compiler run.
print(C.open("/nonexistent/file", 0), ffi.errno())
local sum = 0
for i = 1, 300 do
  local t = {} for k = 1, 20 do t[k] = { i } end
  sum = sum + #t
end
collectgarbage()
print(sum, ffi.errno(), ffi.errno(7), ffi.errno())

-- Libraries.
local m = ffi.load("m")
print(m.cos(0), type(m), type(C), m.cos == ffi.load("libm.so.6").cos, ffi.typeof(C.abs))
for i = 1, 200 do
  assert(m.cos(0) == 1 and C.abs(-i) == i and C.div(i, 7).rem == i % 7 and C.strlen("abc") == 3ULL)
  assert(ffi.string(buf, C.snprintf(buf, 128, "%d", ffi.new("int", i))) == tostring(i))
  assert(not pcall(C.abs, "x"))
end
