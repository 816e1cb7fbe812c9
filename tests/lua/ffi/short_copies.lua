-- ffi.copy of a few bytes, whose number is constant in a trace.
local ffi = require "ffi"
local buf = ffi.new("uint8_t[64]")
local at, sum = 0, 0
local function put(cdata, n)
  if at + n > 60 then at = 0 end
  ffi.copy(buf + at, cdata, n)
  at = at + n
  sum = (sum * 31 + buf[at - 1] + buf[at - n]) % 1000003
end
for i = 1, 400 do
  put(ffi.new("int16_t[1]", i), 2)
  put(ffi.new("double[1]", i / 3), 8)
  put(ffi.new("uint32_t[1]", i * 7919), 3)
  put(ffi.new("struct { uint8_t a; uint32_t b; }", i % 256, i), 8)
  put("abcdefghijk", 5)
  put(ffi.cast("const char *", "pointer"), 4)
end
print(sum)

-- Overlapping, other views of the same bytes, whole structs, a string with its end, no bytes.
local words = ffi.cast("uint32_t *", buf)
local point = ffi.typeof "struct { float x, y; int16_t z; }"
local p, q = point(1, 2, 3), point()
local mix = 0
for i = 1, 400 do
  buf[0], buf[1], buf[2], buf[3] = i % 256, 1, 2, 3
  local before = words[0]
  ffi.copy(buf + 1, buf, 7)
  mix = (mix + before + words[0] + words[1]) % 4294967296
  p.x, p.z = i, i % 100
  ffi.copy(q, p, ffi.sizeof(point))
  mix = mix + q.x + q.z
  ffi.copy(buf + 32, "end")
  mix = mix + buf[34] + buf[35]
  ffi.copy(buf, p, 0)
  ffi.copy(buf + 40, buf, 16)
  mix = mix + buf[40 + i % 16]
end
print(mix)
local big, other = ffi.new("char[300]"), ffi.new("char[300]")
for i = 1, 300 do
  big[i % 300] = i % 128
  ffi.copy(other, big, 300)
  ffi.copy(big + 8, big, 128)
end
local total = 0
for i = 0, 299 do total = total + other[i] * i + big[i] end
print(total)
for i = 1, 200 do
  local ok, message = pcall(ffi.copy, buf, i == 150 and {} or p, 4)
  if not ok then print(i, message) end
end
