--- compound 70 perilune
local x, t, s = $n, {n = 1, [1] = 2}, "s"
for i = 1, $t do
  ?x $(+|-|*)= $(i|$k|$n)
  ?x = N(x)
  t.n += $(i|1)
  t[1] $(-|+|*)= $(2|i)
  s ..= $(i|"x"|T(i))
  ?x = I(x) x $(&|\||~|<<|>>|~>>)= $(i|3)
  if #s > 30 then s = "s" end
  t[1] %= 1000
end
P(N(x), t.n, t[1], s)
--- compound_meta 60 perilune
local n = 0
local t = setmetatable({}, {__index = function(_, k) n += 1 return $k end, __newindex = function(t, k, v) n += 10 $(rawset(t, k, v)|) end})
for i = 1, $t do t.a += i t["b" .. i % 2] -= 1 C(t.a) end
P(n)
--- ternary 70 perilune
for i = 1, $t do
  local v = i % 3 == 0 ? nil : i % 3 == 1 ? i : $(-i|$s|$n)
  C(v ?? $k) C($b ? $n : $n) C(v == nil ? "none" : v) C((i > 2 && $b || v) ? 1 : 2)
  ?P(v ? v : "no", !v, v != nil)
end
--- coalesce 50 perilune
local t = {a = false, b = 1}
for i = 1, $t do
  C(t.a ?? 1) C(t.c ?? $n) C(t.b ?? t.c ?? 2) C((i % 2 == 0 ? nil : i) ?? $k)
  t.c = i % 3 == 0 ? i : nil
end
--- navigation 70 perilune
local t = {a = {b = {c = 1}}, f = |...| -> ..., m = function(self, x) return self == t, x end}
for i = 1, $t do
  local o = i % 3 == 0 ? nil : t
  C(o?.a?.b?.c) C(o?.x?.y) C(o?.["a"]?.b.c) P(o?.f?.(i, 2)) P(t?.:m(i)) P(o?.:m(i)) C(t.g?.(i))
  o?.n = i
  C(t.n)
end
--- continue 70 perilune
local s = 0
for i = 1, $t do
  if i % $(2|3) == 0 then continue end
  for j = 1, 4 do
    if j == $(2|3) then continue end
    s += i * j
    ?if s > 100 then break end
  end
  ?if $b then continue end
  s -= 1
end
local i = 0
while i < $t do i += 1 if i % 2 == 0 then continue end s += i end
i = 0
repeat i += 1 if i == 2 then continue end s += i until i >= $k
P(s)
--- const 50 perilune
const a, b = $n, $k
const function f(x) const y = N(x) + b return y end
for i = 1, $t do const c = f(i) C(c) C(a) end
P(loadstring("const x = 1 x = 2"))
--- short_functions 80 perilune
local inc, add, five, all = x -> N(x) + $k, |a, b| -> N(a) $o N(b), || -> 5, |...| -> do return select("#", ...), ... end
for i = 1, $t do C(inc(i)) C(add(i, $n)) C(five()) P(all(i, nil)) C((x -> y -> x + y)(i)(2)) end
local list = {3, 1, 2} table.sort(list, |a, b| -> a > b) P(list[1])
--- bit_operators 70 perilune
local x, y = $c, $c
for i = 1, $t do
  P(pcall(|a, b| -> do return a & b, a \| b, a ~ b, a << (i % 40), a >> 3, a ~>> i, ~a end, x, $(y|i|$c)))
  x = x ~ i
  ?y = y << 1
  ?y = ~y
end
P(x, y)
--- logical 50 perilune
local n = 0
for i = 1, $t do
  if i % 2 == 0 && $b then n += 1 end
  if $b || i > 3 then n += 2 end
  if !($b) then n += 4 end
  if i != $k then n += 8 end
end
P(n)
--- goto_labels 50
for i = 1, $t do
  do goto a ::b:: C(2) goto c ::a:: C(1) goto b ::c:: end
  C(i)
end
--- numerals 40
P(0x10, 1e2, .5, 3., 0xA.8p1, 1e-2, 0x7fffffff, 0xffffffff, 0x1p-2, 1E+2)
P("\x41\z
   b\u{48}\065\n" == "AbHA\n", #"\0\z  x", [[
long]], [==[a]]b]==])
--- methods 60
local o = {v = 1}
function o:inc(n) self.v = self.v + N(n) return self end
function o.static(...) return select("#", ...) end
o.sub = {deep = {}} function o.sub.deep.f(x) return x end function o.sub.deep:m() return self == o.sub.deep end
for i = 1, $t do C(o:inc(i):inc(1).v) C(o.static(o, i)) C(o.sub.deep.f(i)) C(o.sub.deep:m()) C(o["inc"](o, 2).v) C(o.static "x") C(o.static {1}) end
