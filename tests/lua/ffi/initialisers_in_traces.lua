-- Values made from tables, arrays of variable size with values, and finalizers, in loops that are compiled.
local ffi = require "ffi"
ffi.cdef [[
  typedef struct { int x; double y; } point;
  typedef struct { point from, to; struct { uint8_t a, b; }; int v[3]; } line;
  typedef struct { int n; double data[?]; } sized;
]]
local point, line, sized = ffi.typeof "point", ffi.typeof "line", ffi.typeof "sized"

-- By name, by position from 1 and from 0, and with names that are absent.
local sum = 0
for i = 1, 200 do
  local p, q, r = point { x = i, y = 0.5 }, point { i, i / 2 }, point { [0] = i, 2 }
  local s, none = point { y = i }, point {}
  sum = sum + p.x + p.y + q.x + q.y + r.x + r.y + s.x + s.y + none.x + none.y
end
print(sum)
-- A table that is not made by the loop, and changes.
local t = { x = 1, y = 2 }
sum = 0
for i = 1, 200 do
  t.x = i
  if i == 150 then t.y = nil end
  if i == 180 then t[1] = 1000 end
  local p = point(t)
  sum = sum + p.x + p.y
end
print(sum)
-- Nested, with fields of a struct without a name, and arrays with one or all elements.
sum = 0
for i = 1, 200 do
  local l = line { from = { i, 1 }, to = { x = 2, y = i }, a = 3, b = i % 100, v = { i } }
  sum = sum + l.from.x + l.from.y + l.to.x + l.to.y + l.a + l.b + l.v[0] + l.v[1] + l.v[2]
  local m = line { { 1, 2 }, { i }, 5, 6, { 1, 2, i } }
  sum = sum + m.from.y + m.to.x + m.to.y + m.a + m.b + m.v[0] + m.v[2]
  local two = ffi.new("int[4]", { i, 7 })
  sum = sum + two[0] + two[1] + two[2] + two[3]
end
print(sum)
-- Too many values, and values of other types.
print(pcall(function() for i = 1, 200 do sum = ffi.new("int[2]", i < 150 and { 1, 2 } or { 1, 2, 3 })[1] end end))
print(pcall(function() for i = 1, 200 do sum = point { x = i < 150 and i or "text" }.x end end))
print(sum)
-- One that stays, and one that an exit makes.
local kept = {}
for i = 1, 200 do
  local p = point { x = i, y = -i }
  if i % 50 == 0 then kept[#kept + 1] = p end
end
for _, p in ipairs(kept) do io.write(p.x, " ", p.y, " ") end
print()

-- Arrays and structs of variable size with values: one is that of all elements.
sum = 0
for i = 1, 200 do
  local n = i % 5 + 2
  local all, two, zero = ffi.new("int[?]", n, i), ffi.new("double[?]", n, i, 0.5), ffi.new("int64_t[?]", n, 0)
  local last = sized(n, i)
  for k = 0, n - 1 do sum = sum + all[k] + two[k] + tonumber(zero[k]) + last.data[k] * last.n end
end
print(sum)
print(pcall(function()
  for i = 1, 200 do sum = ffi.new("int[?]", i < 150 and 3 or 1, i, i)[1] end
end))
print(sum)

-- Finalizers: set, replaced, taken away, and those of metatypes.
local finalized = 0
local function count(p) finalized = finalized + (ffi.istype("int *", p) and 1 or p.x) end
local owner = ffi.metatype("struct { int x; }", { __gc = count })
local owners = ffi.metatype("struct { int x; char rest[?]; }", { __gc = count })
for i = 1, 200 do
  ffi.gc(point(1, 2), count)
  local p = ffi.gc(point(1000, 2), count)
  if i % 2 == 0 then ffi.gc(p, nil) else ffi.gc(p, function() finalized = finalized + 10 end) end
  owner(100)
  owners(i % 7, 10000)
end
collectgarbage()
collectgarbage()
print(finalized)
print(pcall(function() for i = 1, 200 do ffi.gc(i < 150 and kept[1] or 1LL, nil) end end))

-- Bitfields: booleans, whole words, signed ones.
local bits = ffi.typeof("struct { bool flag:1, other:1; int small:5; uint32_t word:32; int int_word:32; }")
local b, flags = bits(), 0
for i = 1, 200 do
  b.flag, b.other, b.small, b.word, b.int_word = i % 3 == 0, i % 2, i, i * 40000000, -i
  flags = flags + (b.flag and 1 or 0) + (b.other and 1000 or 0) + b.small + b.word + b.int_word
end
print(flags)
