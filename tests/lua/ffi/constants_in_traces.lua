-- Constants that are cast to integers of C in traces: an uint32_t keeps its sign when it becomes wider.
local ffi = require "ffi"
local bit = require "bit"
local i64, u64, u32, u16 = ffi.typeof "int64_t", ffi.typeof "uint64_t", ffi.typeof "uint32_t", ffi.typeof "uint16_t"
local fs = {
  function(x) return i64(x)+u32(-2.7) end, function(x) local y=-2.7 return i64(x)+u32(y) end,
  function(x) return u64(x)*u32(-1) end, function(x) return u32(-1)+i64(x) end, function(x) return tonumber(u32(-1))+x end,
  function(x) return bit.band(i64(-1), u32(-1)) + x end, function(x) return i64(u32(-1)) + x end, function(x) return u64(u32(-1)) + x end,
  function(x) return u32(-1) < i64(x+5) end, function(x) return i64(x) == u32(-1) end, function(x) return ffi.new("int64_t[1]", u32(-1))[0] end,
  function(x) return ffi.new("double[1]", u32(-1))[0] + x end, function(x) return tonumber(u32(-1)) end, function(x) return ffi.cast("uint32_t", 4294967295)+0LL end,
  function(x) return ffi.cast("uint32_t", -1)/2 end, function(x) return -u32(-1) end, function(x) return u32(-1) % 10LL end, function(x) return u32(-1) - u32(-2) end,
  function(x) return i64(x) + u16(-1) end, function(x) return i64(x) + ffi.cast("uint8_t", -1) end,
  function(x) local s=0LL for i=1,3 do s=s+u32(-1) end return s+x end, function(x) return (i64(1) << 40) + u32(-1) end,
  function(x) local p=ffi.cast("char*",0) return tostring(p+u32(-1)) end,
  function(x) return bit.bor(u32(-1),0LL) end, function(x) return u32(-1) >= 1 end, function(x) return u32(-1)+x end,
  function(x) return ffi.new("struct {uint32_t a;}", -1).a + 1LL + x end, function(x) return ffi.new("uint32_t[1]", -1)[0] + x + 1LL end,
}
for n, f in ipairs(fs) do
  local first, other
  for i = 1, 300 do
    local r = tostring(f(3))
    if i == 1 then first = r elseif r ~= first then other = r end
  end
  print(n, first, other)
end
