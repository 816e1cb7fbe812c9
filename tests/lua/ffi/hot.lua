-- Operations on cdata in hot loops, with types that change on the way.
local ffi = require "ffi"
ffi.cdef[[
typedef struct hot_s { int x; double d; struct hot_s *next; int8_t b[4]; unsigned bits:5; bool flag; uint64_t u; float f; } hot_s;
enum hot_e { HOT_A, HOT_B = 7 };
]]
local function loop(name, n, f, ...)
  local r
  for i = 1, n do r = f(i, ...) end
  print(name, r)
end
local s, t = ffi.new("hot_s"), ffi.new("hot_s")
s.next, t.next = t, s
local sum = 0
loop("fields", 100, function(i)
  s.x = s.x + i
  t.d = t.d + 0.5
  s.next.x = i
  s.next.next.d = i / 2
  s.b[i % 4] = i
  s.bits = i
  s.flag = i % 2 == 0
  s.u = s.u + i
  s.f = i
  sum = sum + s.x + t.d + t.x + s.d + s.b[i % 4] + s.bits + (s.flag and 1 or 0) + tonumber(s.u) + s.f
  return sum
end)
local a = ffi.new("int[10]")
loop("arrays", 100, function(i) a[i % 10] = a[(i + 1) % 10] + i return a[i % 10] end)
local p = a + 0
loop("pointers", 100, function(i) p = p + (i % 2 == 0 and 1 or -1) return p - a end)
loop("keys", 60, function(i) local k = i < 30 and i % 10 or ffi.new("int64_t", i % 10) return a[k] end)
loop("values", 60, function(i) a[0] = i < 20 and i or i < 40 and i + 0.5 or 5LL return a[0] end)
loop("types", 90, function(i) local c = i < 30 and 1LL or i < 60 and 2ULL or 3.5 return tostring(c + 1) end)
loop("equal", 90, function(i)
  local v = i < 30 and 5LL or i < 60 and "x" or i < 80 and nil or 5
  return tostring(v == 5) .. tostring(v == nil) .. tostring(v == "x") .. tostring(v == 5LL)
end)
loop("null", 60, function(i) local q = ffi.cast("void *", i < 30 and 0 or 1) return q == nil end)
loop("order", 60, function(i) return i < 30LL, tostring(1LL < i) end)
loop("new", 100, function(i) local v = ffi.new("hot_s", i, i / 2) return v.x + v.d end)
local T = ffi.metatype("struct { double x, y; }", {
  __index = { sum = function(v) return v.x + v.y end, K = 5 },
  __add = function(v, w) return ffi.new(ffi.typeof(v), v.x + w.x, v.y + w.y) end,
  __eq = function(v, w) return ffi.istype(ffi.typeof(v), w) and v.x == w.x end,
  __lt = function(v, w) return v.x < w.x end,
  __len = function() return 3 end, __call = function(v, n) return v.x * n end, __concat = function(v) return "cat" end,
  __unm = function(v) return v.y end, __newindex = function(v, k, x) rawset(_G, k, x) end, __tostring = function(v) return "T" .. v.x end,
})
local v = T(0, 0)
loop("metatype", 100, function(i)
  v = v + T(1, 2)
  v.hot_global = i
  return v:sum() + #v + v(2) + -v + v.K + (v == T(i, 0) and 1 or 0) + (v < T(1000, 0) and 1 or 0) + #(v .. "x") + hot_global + #tostring(v)
end)
loop("enum", 60, function(i) local e = ffi.new("enum hot_e", i % 2 == 0 and "HOT_B" or 0) return e == "HOT_B" end)
loop("bits", 100, function(i) return tostring(bit.bxor(bit.lshift(1ULL, i), bit.rol(i + 0LL, 7))) end)
loop("operators", 100, function(i) return tostring((i + 0LL) * 3 / 2 % 7 - -5LL ^ 2) end)
loop("bit operators", 100, function(i) return tostring(((i + 0ULL) << i) | 1ULL) .. tostring(~(i + 0LL) & 0xff) end)
loop("convert", 100, function(i) return tostring(ffi.cast("uint8_t", i * 3) + 0LL) .. tonumber(ffi.cast("int64_t", i + 0.7)) end)
loop("strings", 100, function(i) return ffi.string(ffi.new("char[8]", "n" .. i)) end)
loop("copy", 100, function(i) local x, y = ffi.new("int[2]", i), ffi.new("int[2]") ffi.copy(y, x, 8) ffi.fill(x, 4, i) return x[0] + y[1] end)
loop("ask", 60, function(i) return ffi.sizeof(s) + ffi.sizeof("int[?]", i) + ffi.alignof("hot_s") + ffi.offsetof("hot_s", "d") + (ffi.istype("hot_s", s) and 1 or 0) end)
loop("typeof", 60, function(i) return tostring(ffi.typeof(i % 2 == 0 and s or a)) end)
loop("format", 60, function(i) return ("%d %x"):format(i + 0LL, i + 255ULL) end)
loop("errors", 60, function(i)
  local ok, m = pcall(function() if i > 40 then return s.nothing else return s.x + {} end end)
  return tostring(ok) .. m
end)
loop("tables", 60, function(i) local k = i + 0LL local m = { [k] = i } return m[k] + (m[i + 0LL] or 0) end)
local finalized = 0
loop("finalizers", 200, function(i) ffi.gc(ffi.new("int[1]", i), function(x) finalized = finalized + x[0] end) end)
collectgarbage() collectgarbage()
print(finalized)
local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i + 0LL) end end)
loop("coroutines", 100, function() return tostring(co()) end)
