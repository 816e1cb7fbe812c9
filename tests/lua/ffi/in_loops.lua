-- Pointers, strings and names of constants in loops that are compiled.
local ffi = require "ffi"
local a, b = ffi.new("int[200]"), ffi.new("char[200]", "text")
local p, sum = ffi.cast("int *", a), 0
for i = 1, 100 do
  p[0] = i
  assert(p - a == i - 1)
  sum = sum + (a + 100 - p)
  p = p + 1
end
print(sum, a[0], a[99])
for i = 1, 90 do
  ffi.copy(b + i, b + 106 - 90, 1)
  assert((b + i) - (b + 3) == i - 3 and b + i ~= b)
end
print((b + 90) - b, b + 90 == ffi.cast("char *", b) + 90)

-- Parts of strings as strings of C.
ffi.cdef "size_t strlen(const char *); typedef struct { const char *text; } holder;"
local whole, part, h, n = "abcd", "ab", ffi.new("holder"), 0
for i = 1, 100 do
  h.text = string.sub(whole, 1, 2)
  n = n + tonumber(ffi.C.strlen(string.sub(whole, 2, 3)))
end
print(ffi.string(h.text), part, n)

-- Constants by their names.
ffi.cdef "typedef enum { ONE = 1, TWO } number;"
local values, named, other = { ffi.new("number", 1), ffi.new("number", 2) }, 0, 0
for i = 1, 100 do
  local v = values[i % 2 + 1]
  if v == "TWO" then named = named + 1 end
  if v ~= "ONE" then other = other + 1 end
end
print(named, other)

-- Narrow integers as text.
local bytes, text = ffi.new("uint8_t[4]", 192, 168, 0, 1), nil
for i = 1, 100 do
  bytes[3] = i
  text = bytes[0] .. "." .. bytes[1] .. "." .. bytes[2] .. "." .. bytes[3]
end
print(text)

-- An enumeration compared with names, and parts of complex numbers.
local e, hits, parts = ffi.new("number", 1), 0, 0
local z = ffi.new("complex", 3, 4)
for i = 1, 100 do
  if e == "ONE" then hits = hits + 1 end
  if "TWO" == e then hits = hits + 100 end
  parts = parts + z.re * z.im
  if i == 50 then e = ffi.new("number", 2) end
end
print(hits, parts)

-- A NaN that C made, as text.
local bad, text = ffi.new("uint32_t[1]", 0xffffffff), ""
for i = 1, 100 do text = tostring(ffi.cast("float *", bad)[0]) end
print(text)
