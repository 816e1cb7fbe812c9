local ffi = require "ffi"
ffi.cdef [[
typedef struct { double x, y; } vec;
typedef struct { int32_t a; uint8_t b; int16_t c; float f; double d; int64_t l; uint32_t u; bool t; vec v; int arr[4]; struct { int in1; }; unsigned b1:3; int b2:5; vec *p; } mix;
]]
local a = ffi.new("int32_t[100]")
for i = 0, 99 do a[i] = i * 3 end
local s = 0
for i = 0, 99 do s = s + a[i] end
print(s)
local u8 = ffi.new("uint8_t[256]")
for i = 0, 255 do u8[i] = i * 7 end
s = 0
for i = 0, 255 do s = s + u8[i] end
print(s)
local d = ffi.new("double[64]")
for i = 0, 63 do d[i] = i / 4 end
local t = 0
for i = 0, 63 do t = t + d[i] end
print(t)
local f = ffi.new("float[64]")
for i = 0, 63 do f[i] = i / 10 end
t = 0
for i = 0, 63 do t = t + f[i] end
print(t)
local l = ffi.new("int64_t[64]")
for i = 0, 63 do l[i] = i * 2LL end
local tl = 0LL
for i = 0, 63 do tl = tl + l[i] end
print(tl)
local u = ffi.new("uint32_t[64]")
for i = 0, 63 do u[i] = i * 100000000 end
t = 0
for i = 0, 63 do t = t + u[i] end
print(t)
local m = ffi.new("mix")
for i = 1, 100 do
  m.a = i; m.b = i * 3; m.c = -i; m.f = i / 3; m.d = i; m.l = i; m.u = -i; m.t = i % 2 == 0
  m.v.x = m.v.x + i; m.v.y = m.a; m.arr[i % 4] = m.arr[(i + 1) % 4] + i; m.in1 = m.in1 + 1; m.b1 = i; m.b2 = -i
end
print(m.a, m.b, m.c, m.f, m.d, m.l, m.u, m.t, m.v.x, m.v.y, m.arr[0], m.arr[1], m.arr[2], m.arr[3], m.in1, m.b1, m.b2)
local vec = ffi.typeof("vec")
local x, y = 0, 0
for i = 1, 100 do
  local v = vec(i, 2)
  local w = ffi.new("vec", v.x + 1)
  x, y = x + w.x + v.y, y + w.y
end
print(x, y)
local mt
mt = ffi.metatype("struct { double x, y; }", { __add = function(p, q) return mt(p.x + q.x, p.y + q.y) end, __index = { len = function(v) return v.x * v.x + v.y * v.y end, k = 5 }, __call = function(self, n) return self.x + n end, __eq = function(p, q) return p.x == q.x end, __len = function() return 7 end })
local p = mt(0, 0)
for i = 1, 100 do p = p + mt(i, 1) end
print(p.x, p.y, p:len(), p.k, p(3), p == mt(5050, 1), #p)
local n = 0
for i = 1, 100 do n = n + p:len() + p.k + p(i) + #p; if p == mt(i, 1) then n = n + 1 end end
print(n)
local ptr = ffi.cast("int32_t *", a)
local q = ptr
for i = 1, 50 do q = q + 1 end
print(q[0], q - ptr, q > ptr, q == ptr)
s = 0
for i = 1, 100 do local r = ptr + (i % 10); s = s + r[0] + r[1] end
print(s)
local k = 0
for i = 1, 100 do
  k = k + ffi.sizeof("vec") + (ffi.istype("vec", vec) and 1 or 0) + (ffi.istype(vec, p) and 1 or 0) + ffi.offsetof("mix", "d") + tonumber(tl) + tonumber(ffi.cast("uint8_t", i * 5))
end
print(k)
local parts = {}
local buf = ffi.new("char[16]")
for i = 1, 100 do
  ffi.copy(buf, "x" .. i); ffi.fill(buf + 8, 4, 65 + i % 26)
  if i % 25 == 0 then parts[#parts + 1] = ffi.string(buf) .. ffi.string(buf + 8, 4) end
  local z = ffi.string(buf, 2)
  if z ~= "x" .. tostring(i):sub(1, 1) then print("bad", i, z) end
end
print(table.concat(parts, " "))
local nul = 0
local pp = ffi.new("vec *[3]")
for i = 1, 100 do if pp[i % 3] == nil then nul = nul + 1 end; pp[0] = m.v end
print(nul, pp[0].x == m.v.x)
local c = 0
for i = 1, 100 do local v = ffi.new("int[?]", i); v[i - 1] = i; c = c + v[i - 1] + ffi.sizeof(v) end
print(c)
-- A uint32_t that was stored as a negative number is extended by zeros.
local w = ffi.new("uint32_t[2]")
local wide = 0LL
for i = 1, 100 do
  w[0] = -i
  wide = wide + ffi.cast("uint32_t", w[0])
  w[1] = w[0]
  wide = wide + ffi.cast("int64_t", w[1])
end
print(wide, w[0], w[1])
-- A NaN with other bits is a number as any.
local bits = ffi.new("union { double d; uint64_t u; }")
local nans = 0
for i = 1, 100 do
  bits.u = i % 10 == 0 and 0xffff123456789abcULL or 0x3ff0000000000000ULL
  local x = bits.d
  if x ~= x then nans = nans + 1 end
end
print(nans, bits.d)
