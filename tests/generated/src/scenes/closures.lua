--- counters 60
local list = {}
for i = 1, $(3|5) do
  local n = $n
  list[#list + 1] = function(d) n = N(n) + N(d) return n$(|, i) end
  ?list[#list + 1] = function() n = $n i = i + 1 return i end
end
for j = 1, $t do for i = 1, #list do C(list[i](j)) end end
--- shared 60
local function make()
  local a, b = $n, $n
  return function(v) a = v return b end, function(v) b = v return a end, function() a, b = b, a return a, b end
end
for i = 1, $t do
  local get, put, swap = make()
  C(get(i)) C(put($n)) P(swap())
end
--- closed_in_loop 80
local fs = {}
local i = 0
while i < $t do
  i = i + 1
  local x = i * $k
  fs[i] = function() x = x + 1 return x end
  ?if $b then break end
  x = x + $k
end
for j = 1, #fs do C(fs[j]()) C(fs[j]()) end
--- repeat_until 50
local i, f = 0, nil
repeat
  local x = i
  f = function() x = x + 1 return x end
  i = i + 1
until f() > $(3|6|9) or i > 12
P(i, f())
--- levels 60
local x = $n
local function a() local y = x return function() x = N(x) + 1 y = N(y) + x % 7 return function() return x, y end end end
for i = 1, $t do local f = a() f() P(f()()) end
--- in_coroutine 80
local n = 0
local co = coroutine.wrap(function() local m = 0 while true do m = m + 1 n = n + m coroutine.yield(function() m = m + 1 return m, n end) end end)
for i = 1, $t do local f = co() P(f()) P(f()) end
--- closed_by_error 60
local keep
local function f(v) local x = v keep = function() x = N(x) + 1 return x end if $b then error("e") end return x end
for i = 1, $t do C(pcall(f, i)) C(keep()) end
--- passed 70
local function apply(f, ...) return f(...) end
local s = 0
for i = 1, $t do
  s = s + N(apply(function(a, b) return a $o (b or $k) end, i$(|, $n)))
  s = N(s) % 100003
end
P(s)
--- same_prototype 80
local function adder(n) return function(x) return N(x) $o n end end
local f, g = adder($n), adder($k)
for i = 1, $t do C(f(i)) C(g(i)) if i % 3 == 0 then f, g = g, f end end
--- upvalue_types 60
local u = $n
local function set(v) u = v end
local function get() return u end
for i = 1, $t do
  set(i % 4 == $(0|1) and $x or i)
  C(get())
end
--- self_replacing 50
local f
f = function(n) f = function(m) return N(m) + $k end return n end
for i = 1, $t do C(f(i)) end
--- goto_closure 60
local i, t = 1, {}
::top::
do
  local x = i
  t[i] = function() x = x + i return x end
  i = i + 1
  if i <= $(4|8) then goto top end
end
for j = 1, #t do C(t[j]()) end
--- captured_stores 90
local x, y = $n, $n
local function get() return x end
local function set(v) x = v end
for i = 1, $t do
  x = $(5|i|"s")
  *$(set(i)|y = x|C(get())|y = N(y) + 1|C(tostring(x))|C(pcall(set, y))|x = y|if i % 3 == 0 then set(7) end|y = math.max(i, 2)|C(select("#", get(), x))|x = 5)
  x = $(5|i|get())
  *$(set(5)|C(get())|C(#tostring(x))|y = get()|x = i|C(pcall(get))|P(x))
end
P(x, y, get())
--- captured_in_rounds 150 often
local kept, n, m = {}, 0, "m"
for i = 1, $(9|12|20|25) do
  local x, y = $(5|i|"s"|nil|{i}), $(0|"u"|i % 3)
  local function f(v) local before = x $(||x = v|x = v|x, y = y, v) return before end
  *$(n = n + #("ab"):rep($(2|i))|m = ("x%d"):format($(1|i))|n = n + select("#", unpack({1, i, "x"}))|n = n + (("ab"):find("b"))|n = n + #table.concat({i, "x"}))
  ?$(local a, b = f($(1|i|nil))|C(x)|y = $(0|1|"u"|x)|m = #tostring(x)|x = $(i|7|y))
  x = $(1|2|"t"|nil|i|y)
  ?$(n = n + #("ab"):rep($(2|i))|y = $(0|1|"u"|x)|if i % 3 == 0 then x = $(7|"z"|nil) end|n = n + (("ab"):find("b"))|x = f($(2|i)))
  kept[i] = f
end
for i = 1, #kept do P(kept[i]($(i|nil))) P(kept[i](2)) end
P(n, m)
