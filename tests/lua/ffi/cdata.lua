-- cdata: creation, initialisers, conversions, fields, elements, constants, metatypes, finalizers.
local ffi = require "ffi"
ffi.cdef[[
typedef struct { int x, y; double d; } cd_point;
struct cd_fields {
  char a; int b:3; unsigned c:5; bool d:1;
  struct { int in1, in2; };
  union { int u1; float u2; };
  int arr[4]; struct cd_fields *next; const int k;
};
enum cd_color { CD_RED, CD_GREEN = 5, CD_BLUE };
typedef struct { int len; int data[?]; } cd_vls;
]]
local function fails(f, ...)
  local ok, message = pcall(f, ...)
  print(ok, (tostring(message):gsub("struct %d+", "struct N")))
end
local function show(p) print(p.x, p.y, p.d) end
show(ffi.new("cd_point"))
local p = ffi.new("cd_point", 1, 2, 3.5)
show(p)
p.x, p.d = 10.9, -1
show(p)
show(ffi.new("cd_point", { x = 1, d = 2 }))
show(ffi.new("cd_point", { 4, 5 }))
show(ffi.new("cd_point", { [0] = 4, 5 }))
show(ffi.new("cd_point", p))
fails(ffi.new, "cd_point", 1, 2, 3, 4)
fails(ffi.new, "cd_point", "x")
fails(ffi.new, "int[2]", 1, 2, 3)
fails(ffi.new, "int[2]", { 1, 2, 3 })
local f = ffi.new("struct cd_fields")
f.b, f.c, f.d, f.in2, f.u2 = 3, 31, true, 9, 1.5
print(f.b, f.c, f.d, f.in2, f.u1)
f.b, f.c = 4, 33
print(f.b, f.c, f.a)
fails(function() f.k = 1 end)
fails(function() return f.zz end)
fails(function() f.zz = 1 end)
fails(function() return f[{}] end)
f.arr = { 1, 2, 3 }
print(f.arr[0], f.arr[1], f.arr[2], f.arr[3], ffi.sizeof(f.arr))
f.next = f
print(f.next.next.c, f.next == f, f.next.next == f.next)
local a = ffi.new("int[10]", 7)
print(a[0], a[9], ffi.sizeof(a))
a[3LL] = "x" == 1 and 1 or 4.7
print(a[3], a[3ULL], a[3.9])
local v = ffi.new("int[?]", 3, { 1, 2, 3 })
print(v[0], v[2], ffi.sizeof(v), ffi.typeof(v))
local vl = ffi.new("cd_vls", 3, { 9, { 1, 2, 4 } })
print(vl.len, vl.data[0], vl.data[2], ffi.sizeof(vl))
print(ffi.string(ffi.new("char[10]", "hello")), ffi.string("abc", 2), ffi.string(ffi.cast("const char *", "lua")))
fails(ffi.string, 1)
-- Enumerations.
local e = ffi.new("enum cd_color", "CD_BLUE")
print(tonumber(e), e == "CD_BLUE", e == "CD_RED", e == "nothing", e == 6, e > 5, e < 5LL)
print(ffi.new("enum cd_color", 5))
fails(ffi.new, "enum cd_color", "CD_X")
-- Complex numbers and vectors.
local c = ffi.new("complex", 1, 2)
print(c, c.re, c.im, c[0], c[1], ffi.new("complex float", 3), ffi.new("complex", c))
fails(function() c.re = 1 end)
local vec = ffi.new("int __attribute__((vector_size(16)))", 3)
print(vec[0], vec[3], ffi.sizeof(vec))
-- Numbers.
print(tonumber(ffi.new("int64_t", -5)), ffi.new("int8_t[1]", 200)[0], ffi.new("uint8_t[1]", -1)[0], ffi.new("uint32_t[1]", -1)[0])
print(ffi.new("float[1]", 0.1)[0], ffi.new("bool[2]", true)[1], ffi.new("bool[1]")[0], ffi.new("double[1]", 7LL)[0])
print(ffi.new("int64_t", 2^53), ffi.new("uint64_t", 2^63), ffi.new("uint64_t", -1), ffi.new("int64_t", -2^63))
print(tonumber(ffi.cast("int", 3.9)), tonumber(ffi.cast("uint8_t", -1)), tonumber(ffi.cast("uint32_t", -1)), tonumber("0x10"), tonumber(1i))
print(tonumber(ffi.cast("void *", 1)), ffi.cast("void *", 16), ffi.cast("intptr_t", ffi.cast("void *", 255)))
fails(ffi.new, "int", "x")
fails(ffi.new, "int", {})
fails(ffi.new, "int", nil)
fails(ffi.new, "int *", 1)
fails(ffi.new, "char *", "abc")
fails(ffi.cast, "cd_point", 1)
fails(ffi.new, "struct cd_undefined")
fails(ffi.new, "void")
fails(function() a[0] = "1" end)
fails(function() a[0] = p end)
-- Pointers.
local q = a + 2
q[0] = 99
print(a[2], q - a, q > a, q == a + 2, (q + 1)[-1], q - 1 == a + 1, 1 + q == q + 1)
fails(function() return q + q end)
fails(function() return q < p end)
print(ffi.cast("void *", 0) == nil, nil == ffi.cast("char *", 0), q == nil, ffi.cast("void *", a) == a)
-- References.
local r = ffi.new("int &", a) -- the address of a
print(tostring(ffi.typeof(r)), ffi.istype("int", r))
-- Types.
print(ffi.istype("int", ffi.new("int")), ffi.istype("cd_point", p), ffi.istype("cd_point *", p), ffi.istype("int", 1), ffi.istype("long", 1LL))
print(tostring(ffi.typeof("cd_point")(3).x), ffi.typeof(p) == ffi.typeof("cd_point"), ffi.typeof("int")() == 0)
-- Metatypes.
local pt
pt = ffi.metatype("cd_point", {
  __index = { sum = function(s) return s.x + s.y end },
  __newindex = function(s, k, v) print("newindex", k, v) end,
  __len = function() return 42 end, __call = function(_, x) return x end, __tostring = function(s) return "point " .. s.x end,
  __new = function(ct, x) return ffi.new(ct, x, x) end, __pairs = function() return next, { 1, 2 } end,
  __ipairs = function(s) return function(_, i) if i < 2 then return i + 1 end end, s, 0 end,
  __concat = function(x, y) return "cat" end, __add = function(x, y) return type(x) .. type(y) end,
  __unm = function(x) return "minus" end, __eq = function() return true end, __lt = function() return true end,
  __le = function() return false end, __mod = function() return "mod" end, __pow = function() return "pow" end,
})
local z = pt(4)
print(z.x, z.y, z:sum(), #z, z(5), tostring(z), z .. "x", "x" .. z, z + 1, 1 + z, z + z, -z, z == 1, z == nil, z < z, 1 < z, z <= 1, z % 1, z ^ 2)
for k, v in pairs(z) do print(k, v) end
for i in ipairs(z) do print(i) end
z.other = 5
fails(function() return z.nope end)
local ptr = ffi.new("cd_point[2]")
print((ptr + 1):sum(), #ptr[0], tostring(ptr[1]))
fails(ffi.metatype, "cd_point", {})
fails(ffi.metatype, "int", {})
fails(function() return #a end)
fails(function() return a .. "x" end)
fails(function() return pairs(a) end)
fails(function() return a() end)
fails(function() return a + {} end)
fails(function() return a < 1 end)
fails(function() return 1i + 1 end)
print(getmetatable(a), pcall(setmetatable, a, {}))
-- Finalizers.
local order = {}
for i = 1, 3 do ffi.gc(ffi.new("int[1]", i), function(x) order[#order + 1] = x[0] end) end
local kept = ffi.gc(ffi.new("int[1]"), function() error("never") end)
ffi.gc(kept, nil)
collectgarbage() collectgarbage()
table.sort(order)
print(table.concat(order, " "))
local counted = 0
local T = ffi.metatype("struct { int gc; }", { __gc = function() counted = counted + 1 end })
for i = 1, 10 do T(i) end
collectgarbage() collectgarbage()
print(counted)
fails(ffi.gc, ffi.new("int"), print)
-- Memory.
ffi.fill(a, 40, 255)
print(a[2])
ffi.fill(a, 40)
ffi.copy(a, "abc")
print(ffi.string(ffi.cast("char *", a)), a[0])
local b = ffi.new("int[10]")
ffi.copy(b, a, 40)
print(b[0] == a[0])
fails(ffi.copy, a, b)
ffi.errno(5) print(ffi.errno(), ffi.errno(7), ffi.errno())
-- Keys of tables: by identity.
local t = { [1LL] = "x" }
print(t[1LL], t[1])
-- Large ones are collected as well.
for i = 1, 200 do local x = ffi.new("char[?]", 1e6) x[999999] = i end
print(ffi.sizeof(ffi.new("char[100000]")))
local al = ffi.new("struct { int x __attribute__((aligned(64))); }")
print(tonumber(ffi.cast("intptr_t", ffi.cast("void *", al)) % 64))

-- The number by which a type is known.
local int = tonumber(ffi.typeof("int"))
print(type(int), int == tonumber(ffi.typeof("int32_t")), int == tonumber(ffi.typeof("double")))
