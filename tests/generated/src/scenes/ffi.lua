--- int64 100 often
require "ffi"
local a, b = $(1LL|-7LL|0x7fffffffffffffffLL|0LL|12345678901LL), $(3LL|-2LL|0xffffffffffffffffULL|1ULL|-1LL|0x8000000000000000ULL)
for i = 1, $t do
  a = a $(+|-|*) $(i|b|$k|2^40|0.5|-i)
  ?b = b $(+|-|*|/|%) $(3|a|7LL|i + 1|5ULL)
  ?if a $r b then a = a - $(1|i|b) end
  ?P(tostring(a), tostring(b), a == b, a < b, b <= $(a|i|3))
  ?if $(a == 0|b == 0|a ~= b) then b = b + 3 end
  if b == 0 then b = b + 1 end
end
P(tostring(a), tostring(b), tostring(-a), tonumber(a) == tonumber(b))
--- int64_bits 90
require "ffi"
local x, y = $(1LL|-1LL|0x123456789abcdefULL|0LL|i), $(3|-5LL|0xffULL|$c)
for i = 1, $t do
  x = bit.$(bxor|band|bor|lshift|rshift|arshift|rol|ror)(x, $(i|3LL|$k|63|64ULL|-1LL))
  ?x = bit.$(bnot|bswap|tobit)(x)
  ?x = bit.$(bxor|bor)(x, 1ULL, i)
  ?P(bit.tohex(x), tostring(x))
end
P(tostring(x), bit.tohex(x, $(16|-16|4)))
--- int64_shown 40
require "ffi"
for i = 1, $t do
  local v = $(1LL|-1LL|0xffffffffffffffffULL|2LL^62) $(+|*|-) i
  P(tostring(v), tonumber(v), tostring(v $(/|%|^) $(3|-2LL|i|7ULL)), type(v), v == $(1|v|1LL))
end
--- int64_division 50
require "ffi"
for i = -$k, $k do
  P(tostring(100LL / (i * 2 + 1)), tostring((i + 0LL) % 7), tostring((i - 1ULL) / 5), tostring(i * 3LL % (i * 2 + 1)))
  ?P(pcall(function() return tostring(5LL / (i + 0LL) * 0) end))
end
--- int64_and_numbers 60
require "ffi"
local s = $(0LL|0ULL)
for i = 1, $t do
  local n = $(i|i / 4|-i|i * 1e9|$c)
  if n == n and n < 2^62 and n > -2^62 then s = s + n end
  ?s = s + $("1" == 1 and 1 or 2|true and 1)
  ?P(s == n, s < n, n <= s, s ~= i)
end
P(tostring(s), tonumber(s))
--- scalars 110 often
local ffi = require "ffi"
local ct = ffi.typeof("$(int8_t|uint8_t|int16_t|uint16_t|int32_t|uint32_t|float|double)[?]")
local a = ct(16)
local s = 0
for i = 1, $t do
  local v = $(i|i * 100|-i|i / 3|$c|$n)
  if v == v and v < 2^31 and v > -2^31 then a[i % 16] = v end
  ?a[(i + 3) % 16] = a[i % 16] $(+|-|*) $(1|i|0.5)
  s = (s + a[i % 16] + a[(i * 7) % 16]) % 100003
  ?P(a[i % 16], a[3])
end
P(s, a[0], a[15], ffi.sizeof(a))
--- int64_array 80
require "ffi"
local ffi = require "ffi"
local a = ffi.new("$(int64_t|uint64_t)[8]", $(1|{1, 2, 3}|5LL))
for i = 1, $t do
  a[i % 8] = a[(i + $k) % 8] $(+|*|-) $(i|3LL|a[1])
  ?a[0] = $(i|-1|2^40|a[i % 8])
  ?if a[i % 8] $r $(i|a[2]|7LL) then a[3] = a[3] + 1 end
end
for i = 0, 7 do P(tostring(a[i])) end
--- bools 60
local ffi = require "ffi"
local s = ffi.new("struct { bool a, b; int n; }")
for i = 1, $t do
  s.a = $(i % 2 == 0|i > $k|true|s.b)
  ?s.b = not s.a
  if s.a then s.n = s.n + i else s.n = s.n - 1 end
  ?P(s.a, s.b)
end
P(s.n, s.a, s.b)
--- structs 140 often
local ffi = require "ffi"
local point = ffi.typeof("struct { $(int|double|float|int16_t) x; $(double|int|uint8_t|float) y; int64_t z; }")
local p, kept = point($(1, 2, 3|1|5, $k)), {}
for i = 1, $t do
  local q = point(i, $(i * 2|$k|0.5), $(i|2LL|-1))
  ?if i % $(3|2|7) == 0 then kept[#kept + 1] = q end
  ?q.x = q.y + $(1|i)
  ?p = q
  ?p = point(q)
  ?if $(q.x > p.y|i % 2 == 0|q.z == i) then p.x = p.x + 1 else q.z = q.z + p.z end
  p.y = (q.y + p.x) % 100
  p.z = p.z + q.z
end
P(p.x, p.y, tostring(p.z), #kept)
for i = 1, #kept do P(kept[i].x, kept[i].y, tostring(kept[i].z)) end
--- struct_copies 140 often
local ffi = require "ffi"
local item = ffi.typeof("struct { $(int32_t|uint8_t|double) key; $(int64_t|float|int16_t|char tag[3]; uint8_t) value; }")
local list = ffi.typeof("struct { int n; struct { $(int32_t|uint8_t|double) key; $(int64_t|float|int16_t) value; } items[6]; }")()
for i = 0, 5 do list.items[i].key, list.items[i].value = i * $k, i end
local tmp = ffi.new("struct { int n; }", 3)
for i = 1, $t do
  list.items[i % 6] = list.items[(i + $(1|2|3)) % 6]
  ?list.items[0].key = list.items[0].key + 1
  ?list.items[i % 6], list.items[(i + 1) % 6] = list.items[(i + 1) % 6], list.items[i % 6]
  ?ffi.copy(list.items[i % 6], list.items[5], ffi.sizeof(list.items[5]))
  ?tmp = ffi.typeof(tmp)(tmp)
  ?tmp.n = tmp.n + list.items[i % 6].key
  ?local one = item(i) local two = item(one) two.key = 9 list.n = list.n + one.key + two.key
  ?ffi.fill(list.items[$k % 6], ffi.sizeof(list.items[0]), $(0|1|127))
end
P(list.n, tmp.n)
for i = 0, 5 do P(list.items[i].key, tostring(list.items[i].value)) end
--- nested 100
local ffi = require "ffi"
local inner = ffi.typeof("struct { float x, y; }")
local ray = ffi.typeof("struct { struct { int a; int b[2]; } head; double t; }")
local v, w = inner(1, 2), ray()
for i = 1, $t do
  w.head.a = w.head.a + $(i|1)
  w.head.b[i % 2] = w.head.a
  ?local h = w.head h.b[0] = h.b[1] + 1
  ?v = inner(v.y, v.x + 0.5)
  ?local old = v v.x = v.x + 1 v = inner(old)
  ?w = ray(w)
  ?w.t = w.t + v.x
end
P(w.head.a, w.head.b[0], w.head.b[1], w.t, v.x, v.y)
--- branches 150 often
local ffi = require "ffi"
local vec = ffi.typeof("struct { double x, y; }")
local s, best, u = 0, vec(0, 0), 1LL
for i = 1, $(20|30|50) do
  local a, b = vec(i, $(i % 3|1|i * 2)), vec($(2|i % 5), 1)
  local k = $(u + i|i * 3ULL|u * 2)
  if i % $(2|3|4) == 0 then s = s + a.x * b.y elseif i % $(5|7) == 0 then s = s - a.y a = vec(b.x, a.x) else s = s + 1 end
  ?if k $r $(20|u|i * 2) then u = k - 1 end
  ?if a.x > best.x then best = $(a|vec(a)|b) end
  ?local c = a if i % 3 == 0 then c = b elseif i % 5 == 0 then a.x = 9 end s = s + c.x
  ?if i % $(9|4) == 0 then C(a.x) P(a == b, rawequal(a, a)) end
  s = s % 100000
end
P(s, best.x, best.y, tostring(u))
--- metatype 140 often
local ffi = require "ffi"
local vec
vec = ffi.metatype("struct { double x, y; }", {
  __add = function(a, b) return vec(a.x + b.x, a.y + b.y) end,
  __mul = function(a, k) if type(a) == "number" then a, k = k, a end return vec(a.x * k, a.y * k) end,
  __unm = function(a) return vec(-a.x, -a.y) end,
  __eq = function(a, b) C(1) return type(a) == type(b) and a.x == b.x end,
  __lt = function(a, b) return a.x < b.x end,
  __le = function(a, b) return a.x <= b.x end,
  __len = function(a) return a.x end,
  __call = function(a, n) return a.x + n end,
  __concat = function(a, b) return "cat" end,
  __tostring = function(a) return "(" .. T(a.x) .. "," .. T(a.y) .. ")" end,
  __index = { dot = function(a, b) return a.x * b.x + a.y * b.y end, $(one = 1|name = "n") },
  __newindex = function(a, k, v) C(k) a.x = I(v) end,
})
local p, s = vec(1, 2), 0
for i = 1, $t do
  local q = vec(i, $(1|i)) + p * $(0.5|2)
  ?s = s + q:dot(p)
  ?p = -q
  ?P(p == q, p == p, p ~= nil, p == $(1|nil|"x"), q == vec(q.x, 0))
  ?P(p < q, q <= p, #q, q(1), q .. $(1|"x"|q), tostring(q))
  ?q.other = i
  ?if q < p then p = q elseif i % 3 == 0 then p = p + q end
  if p.x > 1e6 or p.x < -1e6 then p = vec(1, 1) end
  s = s % 1000
end
P(s, tostring(p))
--- pointers 110
local ffi = require "ffi"
local a = ffi.new("$(int|uint8_t|double|int16_t)[20]")
local p = a + 0
for i = 1, $t do
  p[i % 5] = i
  ?p = p + 1
  ?local q = p + $(2|i % 3) P(q - p, q > p, q == p, q ~= a, p <= q)
  ?p = a + $(1|3|i % 10)
  ?P(p == nil, p ~= nil, not p)
  if p - a > 10 then p = a + 0 end
end
local s = 0
for i = 0, 19 do s = s + a[i] end
P(s, p - a)
--- nodes 80
local ffi = require "ffi"
local node = ffi.typeof("struct { int value; void *next; }")
local pool, ptr = ffi.typeof("struct { int value; int16_t next; } [16]")(), nil
for i = 0, 15 do pool[i].value, pool[i].next = i * $k, (i * $(7|5|3) + 1) % 16 end
local at, s = 0, 0
for i = 1, $(10|20|30) do
  local n = pool[at]
  s = (s + n.value) % 1009
  ?n.value = n.value + $(1|i)
  ?if n.value % 2 == 0 then n.next = (n.next + 1) % 16 end
  at = n.next
end
P(s, at)
--- bytes 100
local ffi = require "ffi"
local text = $("hello world"|"abc"|$s .. "x")
if #text > 40 then text = text:sub(1, 40) end
local p, n = ffi.cast("const uint8_t *", text), #text
local buf = ffi.new("char[64]")
local h = 0
for i = 0, n - 1 do
  h = (h * 31 + p[i]) % 65521
  buf[i] = p[n - 1 - i]
  ?if p[i] == $(32|108) then h = h + 1 end
end
P(h, ffi.string(buf, n), #ffi.string(buf, $k), ffi.string(p, 1))
for i = 1, $t do
  ffi.copy(buf, text)
  ?ffi.copy(buf + i % 8, text, $(1|2|n))
  ?ffi.fill(buf, $(3|8|1|16), $(65|0|i))
  ?P(ffi.string(buf))
  C(buf[i % 64])
end
--- copies 120 often
local ffi = require "ffi"
local from = ffi.new("$(uint32_t[8]|double[4]|uint16_t[16]|int64_t[4]|float[8])")
local to = ffi.new("$(uint32_t[8]|uint8_t[32]|uint16_t[16]|int32_t[8])")
local bytes = ffi.cast("uint8_t *", to)
local at, s = $(0|1|2), 0
for i = 1, $t do
  local new = ffi.new("$(uint32_t[8]|double[4]|uint16_t[16]|int64_t[4]|float[8])", $(i|1))
  ?local at = i % 3
  local a = $(new|from)
  ?a[$(0|1)] = $(i|i * 259|3)
  a[at] = $(i|i * 259|i * 65537|$k)
  ?a[$(1|at + 1)] = a[$(0|at|i % 4)]
  ffi.copy($(to|to + 1|bytes + at|bytes + 3), $(a|a + 1|a + at % 2|ffi.cast("char *", a) + at|new), $(2|3|4|6|8|16))
  ?to[$(0|at|3)] = $(i|to[1]|7)
  ?ffi.copy($(bytes + 16|to + 2|bytes + at + 8), $(to|bytes + at|to + 1), $(4|7|8))
  ?to[at] = to[$(0|2)]
  s = (s * 3 + bytes[0] + bytes[at + 2] + bytes[$(4|9|i % 16)] + a[$(0|at)]) % 100003
end
for i = 0, 31 do s = (s * 7 + bytes[i]) % 100003 end
P(s, at)
--- records 120 often
local ffi = require "ffi"
local rec = ffi.typeof("struct { int32_t id; $(float|double|int16_t|uint8_t) w; $(int64_t|uint16_t) n; uint8_t tag[4]; }")
local pool = ffi.new(ffi.typeof(string.char(36) .. "[4]", rec))
local at, s = $(0|1|3), 0
for i = 1, $t do
  local r, q = pool[$(0|1|i % 4)], pool[$(at|(i + 1) % 4|1)]
  ?r = $(rec(i, 2, 3)|rec(q)|rec())
  r.id = $(i|r.id + 1|q.id)
  ?q.w = $(i % 100|r.id % 100|3)
  ?r.n = $(i|q.id + 1)
  ?r.tag[i % 4] = i
  ?pool[$(2|at)] = $(r|q|pool[i % 4])
  ?local p = ffi.cast("$(int32_t|uint8_t) *", $(r|q)) s = s + p[0] p[0] = i
  ?ffi.copy($(r|q), $(q|r|pool + at), $(4|6|8|ffi.sizeof(rec)))
  ?ffi.fill($(q|r), $(4|8))
  ?local bytes = ffi.cast("uint8_t *", $(pool|r|q)) bytes[$(0|1|i % 4)] = $(i|bytes[2])
  ?at = (at + 1) % 4
  s = (s * 3 + r.id + q.id + tonumber(q.n) + r.tag[$(0|i % 4)] + q.w) % 100003
end
for i = 0, 3 do P(pool[i].id, pool[i].w, tostring(pool[i].n), pool[i].tag[1]) end
P(s)
--- kept_at_times 100 often
local ffi = require "ffi"
local box = ffi.typeof("struct { double x; $(int|uint16_t) n; $(float|int64_t) y; }")
local keep, last, s = {}, box(), 0
for i = 1, $t do
  local v = box(i, $k, $(i|2))
  local w = $(v|box(v.n, v.x, 1)|last)
  ?if i % $k == 0 then keep[#keep + 1] = $(v|w) end
  ?v.x = v.x + $(1|w.n|last.x % 7)
  ?w.n = $(i|v.n + 1)
  ?if w.n > $k then w = v end
  ?local f = function() return v.x + w.n end s = s + f()
  ?last = $(v|w|box(w))
  ?local ok = pcall(function() if i % $k == 0 then error(v) end end) if not ok then s = s + v.x end
  s = (s * 3 + v.x + w.n + tonumber(v.y)) % 100003
end
for _, v in ipairs(keep) do P(v.x, v.n, tonumber(v.y)) end
P(s, last.x, last.n)
--- views 100
local ffi = require "ffi"
local u = ffi.new("union { double d; uint64_t u; uint32_t w[2]; uint8_t b[8]; int16_t s[4]; }")
for i = 1, $t do
  u.d = $(i|i / 3|-i * 2.5)
  P(u.w[1], u.b[7], tostring(u.u), u.s[3])
  ?u.w[1] = u.w[1] + 16
  ?u.b[6] = i
  ?u.u = u.u + 1
  C(u.b[0] + u.b[6])
end
local raw = ffi.new("uint8_t[16]")
for i = 1, $t do
  ffi.cast("$(int32_t|uint16_t|double|int64_t) *", raw + i % 8)[0] = i * $k
end
for i = 0, 15 do C(raw[i]) end
P(raw[3], raw[8])
--- bitfields 80
local ffi = require "ffi"
local f = ffi.new("struct { unsigned a:$(3|5|9), b:$(1|4|7); int c:$(2|6|11); uint8_t d; }")
for i = 1, $t do
  f.a = f.a + $(1|i)
  f.c = $(i|-i|f.c - 1)
  ?f.b = $(i|f.a)
  ?f.d = f.d + f.b
  P(f.a, f.b, f.c, f.d)
end
--- conversions_fail 60
local ffi = require "ffi"
for i = 1, $t do
  P(pcall(ffi.new, "int", $("x"|{}|nil|true|i)) == true)
  P(pcall(function() local a = ffi.new("int[2]") a[0] = $("7"|nil|i|print|true) return a[0] end))
  ?P(pcall(function() return 1LL $(+|<|..) $("1"|nil|true|{}) end))
  ?P(pcall(function() return ffi.new("int[4]") .. "" end) == true)
  ?P(pcall(ffi.cast, "int", $(3.7|-1|"a"|300)) == true, tonumber(ffi.cast("int8_t", $(300|-129|i * 50))))
end
--- casts 70
local ffi = require "ffi"
local s = 0
for i = 1, $t do
  local n = $(i|i * 1000|-i|i / 2|i * 1e6)
  s = s + tonumber(ffi.cast("$(int8_t|uint8_t|int16_t|uint16_t|int32_t|int64_t|uint32_t)", n)) % 1000
  ?s = s + tonumber(ffi.cast("$(int8_t|uint16_t|float|double)", $(2.5|i|7LL)))
  ?P(ffi.istype("int", ffi.cast("int", i)), ffi.istype("$(int|int64_t)", 1LL))
end
P(s)
--- int64_carried 90 often
require "ffi"
local s, p, n = $(0LL|1LL), $(1ULL|3ULL), 0
for i = 1, $(20|30|40) do
  s = s + $(i|p|1)
  if i % $(2|3|5) == 0 then p = p * $(3|s|2) elseif i % 7 == 0 then s = s - $(i|p) end
  ?if s > $(100|p|i * 10) then s = s % 97 n = n + 1 end
  ?local old = s s = s + 1 n = n + (old == s and 1 or 0)
  ?if i % $(11|4) == 0 then P(tostring(s)) end
end
P(tostring(s), tostring(p), n)
--- int64_of_calls 80
require "ffi"
local function mix(h, v) $(return bit.bxor(h * 31, v)|if v % 3 == 0 then return h + v end return h * 5ULL|return h + v) end
local h, t = $(17ULL|1LL), {}
for i = 1, $t do
  h = mix(h, i)
  ?t[i % 4] = h
  ?h = (t[i % 3] or h) + 1
  ?h = mix(mix(h, 2), $k)
  ?h = select($(1|2), h, h + 1)
end
P(tostring(h), tostring(t[1]))
--- callbacks 60
local ffi = require "ffi"
local calls = 0
local cb = ffi.cast("int (*)($(int|double|int16_t), int)", function(x, y) calls = calls + 1 return x $(+|-|*) y end)
for i = 1, $t do
  P(cb(i, $(2|$k)))
  ?if i % 3 == 0 then cb:set(function(x, y) return y end) end
end
cb:free()
P(calls)
--- kept_in_tables 100
local ffi = require "ffi"
local cell, ring = ffi.typeof("struct { int a; double b; }"), {}
for i = 1, 8 do ring[i] = cell(i) end
local s = 0
for i = 1, $(20|40) do
  local c = ring[i % 8 + 1]
  s = (s + c.a + c.b) % 1000
  ring[i % 8 + 1] = cell(i, $(s|0.5))
  ?c.a = 100
  ?if i % 5 == 0 then ring[1] = c end
end
P(s, ring[1].a, ring[8].b)
--- variable 70
local ffi = require "ffi"
for i = 1, $t do
  local a = ffi.new("$(int|uint8_t|double)[?]", $(i|i * 4|$k)$(|, 1|, i|, 1, 2|, {3, 4}))
  C(ffi.sizeof(a))
  a[0] = a[0] + 1
  C(a[0])
end
local s = ffi.new("struct { int n; uint8_t data[?]; }", $k + 2)
s.n, s.data[1] = 5, 7
P(s.n, s.data[1], ffi.sizeof(s))
--- initialisers 90
local ffi = require "ffi"
local pair = ffi.typeof("struct { int a; struct { uint8_t b; double c; }; float d[2]; }")
for i = 1, $t do
  local p = pair($(i|i, 2|i, 2, 3|{i, 2}|{a = i, d = {1}}|))
  P(p.a, p.b, p.c, p.d[0], p.d[1])
  ?local q = pair(p) q.a = 8 P(q.a, p.a, q.c)
  ?local z = ffi.new("int[4]", $(i|1, i|{1, 2, i})) P(z[0], z[1], z[3])
end
--- libc 70
local ffi = require "ffi"
local abs = ffi.cast("int (*)(int)", $(0|nil))
P(abs == nil, pcall(abs, 1) == true)
for i = 1, $t do
  C(ffi.sizeof("$(int|double|char[7])")) C(ffi.alignof("$(int16_t|double)"))
  P(ffi.offsetof("struct { char a; $(int|double|char) b; }", "b"), ffi.abi("64bit"), ffi.istype("int", i))
end
--- as_keys 60
local ffi = require "ffi"
local t, k = {}, 1LL
for i = 1, $t do
  t[k] = i
  ?t[$(1LL|k + 0|ffi.new("int", 1))] = i
  ?k = k + 0
  P(t[k], t[1LL], rawequal(k, k), k == k + 0)
end
local n = 0
for _ in pairs(t) do n = n + 1 end
P(n)
