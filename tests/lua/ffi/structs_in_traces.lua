-- Copies of structs in loops that are compiled, and structs that side traces take over from exits.
local ffi = require "ffi"

-- Assignment, with padding, between elements and from values.
local rec = ffi.typeof("struct { uint8_t tag; double value; int16_t n; }")
local list = ffi.typeof("$[8]", rec)()
for i = 0, 7 do list[i] = rec(i, i / 2, -i) end
for round = 1, 100 do
  local first = rec(list[0])
  for i = 0, 6 do list[i] = list[i + 1] end
  list[7] = first
end
for i = 0, 7 do io.write(list[i].tag, ":", list[i].value, ":", list[i].n, " ") end
print()

-- A copy is another object; an array is copied whole.
local four = ffi.typeof("struct { int32_t v[4]; float f; }")
local a, b, sum = four({ { 1, 2, 3, 4 }, 0.5 }), four(), 0
for i = 1, 100 do
  b.v = a.v
  local c = four(b)
  b.v[i % 4], c.f = i, i
  sum = sum + c.v[i % 4] + c.f + b.f
  if i % 25 == 0 then a = four(b) end
end
print(sum, a.v[0], a.v[1], a.v[2], a.v[3], a.f)

-- Overlapping copies, and copies of more than the trace copies itself.
local big = ffi.typeof("struct { int32_t head; uint8_t bytes[60]; }")
local bigs = ffi.typeof("$[3]", big)()
for i = 1, 100 do
  bigs[0].head, bigs[0].bytes[i % 60] = i, i
  bigs[1] = bigs[0]
  bigs[2] = bigs[i % 2]
  bigs[1].bytes[0] = 200
end
print(bigs[1].head, bigs[2].head, bigs[2].bytes[40], bigs[1].bytes[0], bigs[2].bytes[0])

-- A union is copied as bytes.
local bits = ffi.typeof("union { double d; uint32_t w[2]; }")
local us, words = ffi.typeof("$[2]", bits)(), 0
for i = 1, 100 do
  us[0].d = i
  us[1] = us[0]
  us[0].w[1] = 0
  words = words + us[1].w[1] % 1000
end
print(us[1].d, words)

-- Memory that is not initialised is zero.
local zero = 0
for i = 1, 100 do
  local r = rec(i)
  zero = zero + r.value + r.n + r.tag
  if i % 10 == 0 then zero = zero + #ffi.string(r, ffi.sizeof(rec)) + ffi.cast("uint8_t *", r)[3] end
end
print(zero)

-- Initialisers that are structs.
local inner = ffi.typeof("struct { float x, y; }")
local outer = ffi.typeof("struct { $ at; int n; $ to[2]; }", inner, inner)
local s = 0
for i = 1, 100 do
  local o = outer(inner(i, 2), i)
  s = s + o.at.x * o.at.y + o.n + o.to[1].x
  o.at = inner(3, 4)
  o.to[1] = o.at
  s = s + o.to[1].y
end
print(s)

-- Structs and boxes live across branches: the side traces get what is in them.
local vec = ffi.typeof("struct { double x, y; }")
local total, kept, last, count = 0, {}, 0LL, 0ULL
for i = 1, 400 do
  local p, k = vec(i, 1), i * 3ULL
  if i % 2 == 0 then
    p.y = p.y + 1
    if i % 3 == 0 then count = count + k else total = total - p.x end
  end
  if i % 50 == 0 then kept[#kept + 1] = p end
  if k > 600 then last = last + p.x end
  total = total + p.x * p.y
end
print(total, #kept, kept[1].x, kept[1].y, kept[8].x, kept[8].y, last, count)

-- One object in two variables stays one object.
local same, changed = 0, 0
for i = 1, 400 do
  local p = vec(i, 0)
  local q = p
  if i % 3 == 0 then
    q.x = 7
    if i % 2 == 0 then q = vec(p.x, 1) end
  end
  if p == q then same = same + 1 end
  changed = changed + p.x
end
print(same, changed)

-- Functions that return what they make, called in a loop after they have become hot by themselves.
local made
made = ffi.metatype("struct { double re, im; }", {
  __add = function(a, b) return made(a.re + b.re, a.im + b.im) end,
  __mul = function(a, b) return made(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re) end,
})
local function step(w) return w * made(0.6, 0.8) end
local w = made(1, 0)
for _, n in ipairs { 3, 60, 5, 200 } do
  for i = 1, n do w = step(w) + made(0, 0) end
end
print(string.format("%.6f %.6f", w.re, w.im))

-- Numbers out of the range of what they are stored as.
local narrow, low = ffi.new("uint32_t[1]"), 0
local odd = { 2 ^ 63, -2 ^ 63, 2 ^ 64, 1e300, -1e300, 2 ^ 63 - 1024, -1, 4294967295, 0 / 0, 2 ^ 40 + 5 }
for round = 1, 60 do
  for i = 1, #odd do
    narrow[0] = odd[i]
    low = (low + narrow[0] % 1009) % 100003
  end
end
print(low)
