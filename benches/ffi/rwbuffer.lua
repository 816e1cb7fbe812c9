-- rwbuffer: records written to bytes and read back, by pointers of other types.
-- Stresses: casts of pointers, integers of all widths, unions.
-- small: 100
local n = tonumber(arg and arg[1]) or 200000
local ffi, bit = require("ffi"), require("bit")
ffi.cdef[[ typedef union { double d; uint64_t u; uint8_t b[8]; } bits; ]]
local buf = ffi.new("uint8_t[?]", 65536)
local u = ffi.new("bits")
local function write(p, i)
  ffi.cast("uint16_t *", p)[0] = i
  ffi.cast("int32_t *", p + 2)[0] = -i
  u.d = i / 3
  for k = 0, 7 do p[6 + k] = u.b[7 - k] end
  ffi.cast("int64_t *", p + 14)[0] = i * 1000003LL
  return p + 22
end
local function read(p)
  local a, b = ffi.cast("uint16_t *", p)[0], ffi.cast("int32_t *", p + 2)[0]
  for k = 0, 7 do u.b[7 - k] = p[6 + k] end
  local c = ffi.cast("int64_t *", p + 14)[0]
  return p + 22, a + b + u.d + tonumber(c % 1000)
end
local sum = 0
for _ = 1, n / 100 do
  local p = buf + 0
  for i = 1, 2900 do p = write(p, i) end
  p = buf + 0
  for i = 1, 2900 do
    local v
    p, v = read(p)
    sum = sum + v
  end
end
print(string.format("%.3f", sum))
