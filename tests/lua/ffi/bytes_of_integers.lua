-- Bytes may be those of a number of another type, as in C. (LuaJIT's compiled code misses the stores.)
jit.opt.start("hotloop=5", "hotexit=2")
local ffi = require "ffi"
local int, double = ffi.new "int[1]", ffi.new "double[1]"
local bytes, signed = ffi.cast("uint8_t *", int), ffi.cast("int8_t *", double)
local wrong, sum = 0, 0
for i = 1, 200 do
  int[0] = i
  if bytes[0] ~= i then wrong = wrong + 1 end
  bytes[1] = 1
  if int[0] ~= i + 256 then wrong = wrong + 1 end
  double[0] = i
  sum = sum + signed[7]
end
print(wrong, sum)
local same = 0
for i = 1, 300 do
  local x = i * 40000000
  if tonumber(ffi.cast("int32_t", x)) == x then same = same + 1 end
end
print(same)
