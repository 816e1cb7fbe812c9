-- Functions with variable arguments, called from loops that are compiled: what is not declared is passed as its type says.
local ffi = require "ffi"
local C = ffi.C
ffi.cdef [[
int snprintf(char *, size_t, const char *, ...);
int sscanf(const char *, const char *, ...);
enum colour { RED, GREEN = 7 };
struct named { int n; };
]]
local buf, size = ffi.new("char[200]"), 200
local function text() return ffi.string(buf) end
local last, total = nil, 0

-- Doubles in vector registers, from none to more than there are.
for i = 1, 100 do
  total = total + C.snprintf(buf, size, "none")
  total = total + C.snprintf(buf, size, "%g", i)
  total = total + C.snprintf(buf, size, "%g %.3f", i, i / 8)
  total = total + C.snprintf(buf, size, "%g %g %g %g %g %g %g", i, 2, 3, 4, 5, 6, i + 0.5)
  last = text()
  total = total + C.snprintf(buf, size, "%g %g %g %g %g %g %g %g %g", i, 2, 3, 4, 5, 6, 7, 8, i + 0.5)
end
print(total, last, text())

-- Words in registers and on the stack, among doubles.
for i = 1, 100 do
  C.snprintf(buf, size, "%d %s %lld %g %d %d %u %c %.2f %d", ffi.new("int", i), "text", i * 10000000000LL, i / 2,
    ffi.new("int8_t", -i), ffi.new("int16_t", -i * 300), ffi.new("uint8_t", i + 200), ffi.new("char", 64 + i % 26),
    ffi.new("float", i / 4), ffi.new("enum colour", "GREEN"))
end
print(text())

-- Booleans, nil, arrays and structs, whose addresses are passed.
local s, list = ffi.new("struct named", 3), ffi.new("int[2]")
local same = 0
for i = 1, 100 do
  C.snprintf(buf, size, "%d %d", i % 2 == 0, true)
  last = text()
  C.snprintf(buf, size, "%p %p %p %p", s, ffi.cast("void *", s), nil, ffi.cast("void *", 0))
  local a, b, c, d = text():match("^(%S+) (%S+) (%S+) (%S+)$")
  if a == b and c == d then same = same + 1 end
  if C.sscanf(i .. " -5", "%d %d", list, list + 1) == 2 then same = same + list[0] + list[1] end
end
print(last, same)

-- Other values than those that were recorded.
local values = { 1.5, "word", 3LL, true }
local formats = { "%g", "%s", "%lld", "%d" }
local out = {}
for i = 1, 200 do
  local k = i < 120 and 1 or i % 4 + 1
  C.snprintf(buf, size, formats[k], values[k])
  out[i % 5 + 1] = text()
end
print(table.concat(out, " "))
print(pcall(function() for i = 1, 100 do C.snprintf(buf, i < 90 and size or nil) end end))
