--- borders 60
local a, b = $c, $c
for i = 1, $t do
  P(a $o b, a $o i, i $o b)
  ?a = a $o $(1|i|$c)
  ?b = b $(+|-) $(1|0.5)
  if a ~= a or a > 1e300 or a < -1e300 then a = $k end
end
P(a, b, a == b, a < b, -a)
--- conclusions_from_integers 300 often
local n, s = 0, 0
for i = $(1, 70|70, 1, -1|-35, 35) do
  local y = i * $(1|3|i|i * i|40000000|-129523122|i * i * i * i)
  local z = y $(*|+|-) $(1|i|y|77777777|i * i * i)
  ?z = $(math.floor(z * 0.5)|math.floor(z / 4)|math.abs(z)|math.max(z, y)|z + 1|z - y|-z)
  *$(if |if not )($(z == bit.tobit(z)|bit.band(z, -1) == z|bit.bnot(bit.bnot(z)) == z|bit.bxor(z, 5, 5) == z|(z + 1) - z == 1|(z + y) - y == z|(y + z) - z == y|(z + 1) + 1 == z + 2|z % 8 == bit.band(z, 7)|z - tonumber(tostring(z)) == 0|math.floor(z * 0.5) == bit.arshift(z, 1)|-(-z) == z|z * 2 / 2 == z|z < 2147483648|z <= 2147483647|math.floor(z) == z|z - z == 0|z + 0 == z|math.min(z, z) == z|z == y)) then n = n + 1 end
  ?s = s + $(bit.tobit(z) + 0.5|bit.rshift(z, 0) / 3|math.max(z, 0)|z % 7|math.floor(z * 0.25)|bit.band(z, -1) * 0.5|(z + 1) - z)
end
P(n, s)
--- bits 60
local x, y = $c, $c
for i = 1, $t do
  x = bit.$(bxor|band|bor|lshift|rshift|arshift|rol|ror)(x, $(i|y|$c))
  ?y = bit.$(bnot|tobit|bswap)(y)
  ?x = bit.$(band|bxor)(x, $c, y)
end
P(x, y, bit.tohex(x), bit.tohex(y, $(4|-8|2)))
--- bits_of_odd 40
for i = 1, $t do P(pcall(bit.$(band|bor|lshift|rol|arshift|bxor), $(i|"7"|$c|2^40 + i|-i - 0.5), $(i|"2"|$c|33|-1))) end
--- tostring 50
for i = 1, $t do local v = $(i|$c|i / 4|i * 1e10|-i) P(T(v), tostring(I(v)), #tostring(v) > 0) end
--- tonumber 60
local texts = {"10", "0x1F", " 7 ", "1e2", "-0", "0x", "1 2", "z", "ff", "", "1e", "0b11", "-0x10", ".5", "5.", "0x.8p1", "nan", "inf", "1e400", "2147483648", "١"}
for i = 1, $t do
  local s = texts[$(i|I($n)) % #texts + 1]
  P(s, tonumber(s), tonumber(s, $(16|10|36|2|8)))
end
P(pcall(tonumber, "7", $(1|37|0|"x"))) P(tonumber($x)) P(pcall(tonumber))
--- coercions 50
for i = 1, $t do
  P(pcall(function() return $("10"|"0x10"|" 3 "|"a"|"") $o $(i|"2"|$c) end))
  P(pcall(function() return $(10|$c|i) .. $("x"|1|i) end))
  ?for j = "1", 2 do end
end
--- mathematics 60
for i = 1, $t do
  local x = $(i|$c|i / 3|-i * 2.5)
  P(math.floor(x), math.ceil(x), math.abs(x), math.max(x, $c), math.min(x, i, $c), (math.fmod(x, $(3|7|$c))))
  ?P(math.modf(x)) P(math.frexp(i)) P(math.ldexp(i, $(3|-2|0)))
  ?P(x % $(3|-3|0.5|$c), x ^ 2, math.sqrt(i))
end
--- modulo 50
for i = -$k, $k do P(i % $(3|-3|0|2.5|$c), $c % (i + 0.5), i % -i, -i % 4) end
--- random 50 perilune
math.randomseed($(1|42|$k))
for i = 1, $t do P(math.random($(|10|5, 9|-3, 3))) end
--- sums 80
local s, d, m = $c, $n, 1
for i = 1, $(20|40) do
  s = s + i
  ?d = d - $(0.5|i|s)
  ?m = m * $(-1|3|1.5)
  ?if m > 1e15 or m < -1e15 then m = 1 end
end
P(s, N(d), m)
--- negative_zero 40
local z = $(0|-0.0|0.0)
for i = 1, $t do
  local a, b = z * $(-1|i|-i), -z
  P(a, b, 1 / a, 1 / b, a == b, a + b, z - z, -(z + 0), math.floor(a), a % 5, bit.tobit(a))
  ?z = a
end
--- nan 40
local nan = 0 / 0
local t = {}
for i = 1, $t do
  local x = i % 3 == 0 and nan or i
  P(x == x, x ~= x, x < 1, x >= 1, not (x < 1), pcall(function() t[x] = i end))
  ?P(t[x], rawequal(x, x), math.max(x, 1) == x, math.floor(x) == x)
end
--- int_keys 50
local t = {}
for i = 1, $t do
  t[$(i + 0.0|i|$c|i * 1e9|-i|i - 2^31)] = i
  t[i] = (t[i] or 0) + 1
  P(t[$(1|$c|i)], t[1.0], t["1"])
end
--- loops_of_floats 60
local n = 0
for x = $(0|0.1|-1.5), $(2|1|3.25), $(0.25|0.1|0.3) do n = n + 1 P(x) if n > 15 then break end end
for x = $(3|1.5), $(0|-1), $(-0.5|-0.25|-0.7) do n = n + 1 C(x) if n > 30 then break end end
P(n)
--- division 40
for i = 1, $t do P(i / $(2|3|0|-0.0|$c), $c / i, (i * 6) / 3, math.floor(i / 2)) end
--- powers 40
for i = 1, $t do P(i ^ 2, i ^ 0.5, 2 ^ i, (-i) ^ 3, i ^ -1 == 1 / i, i ^ 0, $k ^ $(2|3)) end
--- conversions 60
local t = {1, 2.5, "3", -0.0, 2^31, "0x10"}
local s = 0
for i = 1, $t do local v = t[i % #t + 1] s = s + v + (v * 1) - v / 2 s = s % 1000 end
P(s)
--- induction 90
local t = {}
for i = 1, $(20|30) do t[i] = i * $(1|3|0.5) end
local s = 0
for i = $(1|2), $(20|18|25), $(1|2|3) do s = s + (t[i] or 0) + (t[i + $(1|-1|$k)] or 0) + (t[i * 2] or 0) end
for i = 20, 1, -$(1|3) do s = s - (t[i] or $k) end
P(s)
--- loops_past_integers 110 often
local n, s = 0, 0
for round = 1, $(2|4) do
  local from, step = $(2147483640|2147483630|-2147483640|-2147483630|2^31 - 3|-2^31 + 5|2^46), $(1|1|2|3|-1|-1|0.5|-7)
  for i = from, from + step * $(9|12|20), step do
    n = n + 1
    ?s = (s + i % 7) % 1000
    ?if i == $(2147483647|-2147483648|2147483648) then n = n + 100 end
    ?C(i - from)
  end
  ?for i = $(2147483630|2147483640), $(2147483647|2147483650|2^31) do n = n + 1 end
end
P(n, s)
