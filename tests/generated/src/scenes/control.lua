--- goto 60
local i, s = 0, 0
::again::
i = i + 1
if i % $(2|3) == 0 then goto skip end
s = s + i
?s = N(s) $o $k
::skip::
if i < $t then goto again end
P(i, s)
--- goto_out 80
for i = 1, $t do
  for j = 1, $t do
    C(i * j)
    if i * j > $(5|12) then goto out end
    if j == $k then goto next_i end
  end
  ::next_i::
end
::out::
--- nested_breaks 90
local n = 0
for i = 1, $t do
  while true do
    n = n + 1
    repeat
      n = n + 2
      if n % $(3|4|5) == 0 then break end
    until n % 2 == 0 or n > 90
    if n > i * $(3|5) then break end
  end
  if n > 60 then break end
end
P(n)
--- while_conditions 60
local a, b = $k, $t
while a < b and (a ~= $k or $b) do
  a = a + 1
  ?if $b then b = b - 1 end
  C(a)
end
P(a, b)
--- repeat_local 50
local i = 0
repeat local done = i >= $t or $(false|$b) i = i + 1 until done
P(i)
--- for_edges 80
local n = 0
for i = $(2147483640, 2147483647|-2147483640, -2147483648, -1|2147483645, 2147483650|4294967290, 4294967296|2^53 - 3, 2^53|1, 0|5, 1|1, 5, 10|0, 1, 0.25|1, 0, -0.125|2147483640, 1e10, 1e9|-3, 3, 2147483647|10, -10, -2147483648|1, 3, 1e308) do
  n = n + 1
  C(i)
  P(i)
  if n > 12 then break end
end
--- for_expressions 60
for i = I($n) % 5, I($n) % 20, $(1|2|3|0.5) do C(i) end
for i = $(1|0.5|-2), $t, $(1|1.5|2) do $v = i end
--- for_errors 30
P(pcall(function() for i = $x, $x do C(i) break end end))
P(pcall(function() for i = 1, 2, $(0|$x) do C(i) break end end))
P(pcall(function() for i = "1", 2 do C(i) end end))
--- logic 60
for i = 1, $t do
  local a = $(i % 2 == 0|$b) and $n or $s
  local b = not (a == nil) and ($b or $n) or nil
  C(a) C(b) C($b and $b or $x)
end
--- branches 80
local x = 0
for i = 1, $t do
  if i % 5 == 0 then
    x = x + 1
  elseif i % 3 == $k then
    x = x * 2
  elseif $b then
    x = x - 1
  else
    x = N($n)
  end
  x = N(x) % 1000
end
P(x)
--- multiple_assignment 50
local a, b, c = 1, 2, 3
local t = {1, 2, 3}
for i = 1, $t do
  a, b, c = c, a, b
  t[a % 3 + 1], t[b % 3 + 1], a = b, c, t[1]
  ?a, b = (function() return b, a, 1 end)()
  ?a, b, c = $n
  a, b, c = I(a), I(b), I(c)
end
P(a, b, c, t[1], t[2], t[3])
--- int_overflow 60
local x, y, z = $c, 1, $k
for i = 1, $(20|35) do
  ?x = x + $(i|1|$c)
  ?x = x - $(i|$c)
  y = y * $(2|3|-2|7)
  ?z = z + y
  ?y = y + $k
end
P(x, y, z)
--- comparisons 60
local n = 0
for i = 1, $t do
  local a, b = $(i|$c|i + 0.5|-i), $c
  if a < b then n = n + 1 end
  if a <= b then n = n + 2 end
  if a == b then n = n + 4 end
  if not (a > b) then n = n + 8 end
  if a ~= b then n = n + 16 end
  if not (a >= $n) then n = n + 32 end
end
P(n)
--- polymorphic_loop 80
local list = {1, $c, 2.5, $s, true, {}, false, $n}
for r = 1, $(2|4) do
  for i = 1, #list do
    local v = list[i]
    if type(v) == "number" then C(v + 1) elseif v then C(v) else C(0) end
    ?local ok, x = pcall(function() return v $o 1 end) C(ok) C(x)
  end
end
--- compared_by_builtins 90
local mt = {__eq = $(rawequal|rawget|tostring), __lt = $(rawequal|rawget|type), __le = $(rawequal|rawget|tostring)}
local o, n = {}, 0
for i = 1, 3 do o[i] = setmetatable({}, mt) end
rawset(o[1], o[2], $(true|1)) rawset(o[2], o[3], $(true|false)) rawset(o[3], o[3], true)
for i = 1, $(10|20) do
  local a, b = o[i % 3 + 1], o[$(i % 2 + 1|2|3|3 - i % 3)]
  if a $r b then n = n + 1 else n = n + 10 end
  ?if not (a $r b) then n = n + 100 end
  ?C(a $r b)
end
P(n)
--- results_of_many_types 140 often
local lists, words, patterns = {{1, 2}, {"a"}, {}, {2.5, true, "b"}, {"c", {}}}, {"k=1", "x", "", "12", "a=b"}, {"(%w)=(%w)", "()=", "%d+", "^(%a)()"}
local a, b, n, x, y, z = $(nil|1|"s"), $(0.5|"u"|true), 0
for i = 1, $(12|20|30) do
  $(local x, y, z|local x, y|x, y, z|a, b|x, a) = $(unpack(lists[i % $(2|3|5) + 1])|words[i % $(2|5) + 1]:match(patterns[$(1|2|3|4|i % 4 + 1)])|words[i % $(3|5) + 1]:find(patterns[$(1|3|i % 4 + 1)])|next(lists[i % $(2|5) + 1])|pcall($(tonumber|string.rep|string.byte), words[i % 5 + 1], $(10|2|i % 3))|math.modf(i / $(1|2))|("x"):rep(i % 3):byte(1, -1)|select(i % 3 + 1, 1, "s", nil, 0.5))
  if type($(x|y|a|b)) == $("number"|"string"|"nil") then n = n + $(1|i) else n = n + $(10|0.5) end
  ?a, b = $(b, x|y, a|x, a|b, b|z, x)
  ?C(a) C(b)
  ?P(a, y)
end
P(n, a, b)
--- iterators_of_builtins 140 often
local lists = {{2, "3", 4, "5"}, {3, 1, 2, 5, true}, {2, 3, "4"}}
local words = {"a b cc d e", "", "k=v, x=y", "1 2 3 4", "x"}
local n, last = 0, $(nil|0|"l")
for round = 1, $(8|12|16) do
  for k, v, w in $(words[round % $(2|5) + 1]:gmatch($("%S+"|"()(%w)"|"(%w)=(%w)"|"%d"|"()"))|words[round % $(3|5) + 1]:gmatch($("%w"|"%S%s?"))|unpack, lists[round % $(1|2) * 2 + 1], 1|unpack, lists[3], $(1|2)|rawget, chain, $("s"|1|2.5|true)|each(lists[round % 3 + 1], $(nil|7|"e"))) do
    n = n + 1
    $(if type(k) == "number" then n = n + k elseif type(k) == "string" then n = n + #k else n = n + 10 end|C(k)|last = k)
    ?C(v)
    ?last = $(k|v|w)
    ?if n % $(5|7) == 0 then break end
  end
  C(n) C(last)
end
P(n, last)
--- objects_that_may_be_one 110 often
local mt = {__eq = $(function(a, b) return $(true|a.x == b.x|a.x % 2 == b.x % 2|false|a.x) end|rawequal|type), __lt = $(function(a, b) return $(a.x < b.x|true|a.x ~= b.x) end|rawequal), __le = $(nil|function(a, b) return a.x <= b.x end|rawequal)}
local o, n = {}, 0
for i = 1, 3 do o[i] = setmetatable({x = i$(| % 2| % 3)}, mt) end
local p, q = o[1], o[$(1|1|2)]
for i = 1, $(10|20|30) do
  if $(p|q) $(==|==|~=|~=|$r) $(q|q|p|o[1]) then n = n + 1 else n = n + 100 end
  ?if not (q $(==|~=|<|<=) p) then n = n + 1000 end
  ?C(p == q) C(o[i % 3 + 1] == p)
  if i % $(2|3|5|7) == $(0|1) then $(p|q|q) = o[$(i % 3 + 1|i % 3 + 1|1|2)] end
end
P(n)
