-- bit.tobit of 64-bit integers, and metamethods of cdata that are called with keys of every type.
local ffi, bit = require "ffi", require "bit"

local s, u = 0, 0
for i = 1, 300 do
  s = s + bit.tobit(i * 0x100000001LL) % 7
  u = u + bit.tobit(0xffffffff00000000ULL + i) - bit.tobit(-1LL * i)
  s = s + bit.band(bit.tobit(0x7fffffffULL + i), 255)
end
print(s, u)

local log = {}
local A = ffi.metatype("struct { double p[4]; }", {
  __index = function(self, k) return type(k) == "table" and self.p[k[1]] or self.p[3] end,
  __newindex = function(self, k, v) self.p[type(k) == "table" and k[1] or 2] = v end,
})
local point = ffi.typeof "struct { int x; }"
local keys = { { 1 }, true, false, print, 3, "abc", ffi.new("int64_t", 3), point(4), point, coroutine.create(print), 0.5 }
local a = A { { 1, 2, 3, 4 } }
local function add(k, n)
  for _ = 1, n do a[k] = a[k] + 1 end
  return a.p[1] + a.p[2] * 1000 + a.p[3] * 1000000
end
for _, k in ipairs(keys) do print(type(k), add(k, 100)) end
for i = 1, 200 do add(keys[i % #keys + 1], 1) end
print(a.p[0], a.p[1], a.p[2], a.p[3])
print(pcall(function() for _ = 1, 100 do local x = ffi.new("int[2]")[print] end end))
print(pcall(function() for _ = 1, 100 do local x = point(1)[{}] end end))
print(pcall(function() for _ = 1, 100 do point(1)[true] = 1 end end))
