--- getinfo 60
local function f(a, ...) local i = debug.getinfo($(1|f|2), $("nSlu"|"S"|"l"|"n"|"f"|"u")) return type(i), i and i.currentline, i and i.what, i and i.nups, i and i.nparams, i and i.short_src end
for i = 1, $t do P(f(i)) end
P(pcall(debug.getinfo, 1, $("X"|">"|""))) P(debug.getinfo(99))
--- getlocal 70
local function f(a, b)
  local c = N(a) + $k
  local s = 0
  for i = 1, 10 do local n, v = debug.getlocal(1, i) if not n then break end if n == "a" or n == "b" or n == "c" then s = s + I(v) end end
  return s, a, b, c
end
for i = 1, $t do P(f(i, $x)) end
--- setlocal 60
local function set(level, n, v) return (debug.setlocal(level + 1, n, v)) end
local function f(a, b)
  local name = set(1, $(1|2), $k) return name, a, b end
for i = 1, $t do P(f(i, i)) end
--- upvalues 70
local u, w = $n, $n
local function f() u = N(u) + 1 w = N(w) - 1 return u, w end
for i = 1, $t do
  P(f())
  ?P(debug.getupvalue(f, $(1|2|3)))
  if i % $(3|4) == 0 then debug.setupvalue(f, $(1|2), $(i|$n|$s)) end
  C(u) C(w)
end
--- upvaluejoin 60
local a, b = 1, 2
local function f() a = N(a) + 1 return a end
local function g() b = N(b) + 10 return b end
for i = 1, $t do
  C(f()) C(g())
  if i == $k then debug.upvaluejoin(f, 1, g, 1) P(debug.upvalueid(f, 1) == debug.upvalueid(g, 1)) end
end
P(a, b)
--- traceback 50 perilune
local function f(n) if n > 0 then local r = f(n - 1) return r end return debug.traceback($("m"|"x", 1|"y", 2)) end
for i = 1, $(2|4) do local s = f(i % 3) P((s:gsub("0x%x+", "P"))) end
--- metatable_of_types 60
debug.setmetatable($(1|true|nil|print), {__index = function(v, k) return k end, __add = function(a, b) return $k end, __call = function(f, x) return x end})
for i = 1, $t do P(pcall(function() return ($(1|true|nil|print)).foo end)) P(pcall(function() return $(true + 1|nil + i|i.x|(1)(2)) end)) end
debug.setmetatable($(1|true|nil|print), nil)
debug.setmetatable(1, nil) debug.setmetatable(true, nil) debug.setmetatable(nil, nil) debug.setmetatable(print, nil)
--- hook_counts 90 perilune
local n, lines = 0, 0
local function work(k) local s = 0 for i = 1, k do s = s + i end return s end
for r = 1, $(2|4) do
  C(work($(5|20)))
  debug.sethook(function(e, l) n = n + 1
    if e == "line" then lines = lines + l end end, $("c"|"r"|"l"|"cr"|"crl"))
  C(work(5))
  debug.sethook()
  C(work($(5|20)))
end
P(n, lines)
--- hook_set_while_hot 120 perilune
local n = 0
local function hook() n = n + 1 end
local function step(i) if i == $(4|9) then debug.sethook(hook, $("l"|"c"|"r"|"", 3)) elseif i == $(12|15) then debug.sethook() end return i end
local s = 0
for i = 1, 20 do s = s + step(i) end
debug.sethook()
P(s, n > 0)
--- hook_errors 60 perilune
for i = 1, $(2|4) do
  P(pcall(function() debug.sethook(function() debug.sethook() error($("hook"|{}|"h", 0)) end, $("l"|"c")) local x = i for j = 1, 3 do x = x + j C(x) end return x end))
  debug.sethook()
end
--- hook_coroutine 80 perilune
local n = 0
local co = coroutine.wrap(function() for i = 1, $(5|10) do coroutine.yield(i) end end)
debug.sethook(function() n = n + 1 end, $("c"|"r"))
for i = 1, 4 do C(co()) end
debug.sethook()
P(n > 0)
--- getregistry 20
debug.sethook() P(type(debug.getregistry()), debug.gethook() == nil, type(debug.getfenv(print)))
--- hooks_over_lists 120 perilune
local function many(...) return ... end
local function rest(a, ...) return ... end
debug.sethook(function(e) local a, b, c, d = 1, 2, 3, 4 return a + b + c + d end, $("l"|"", 1|"", 2|"r"|"crl", 3))
for i = 1, $(3|5) do
  local t = {many(1, many(2, i, many(i)))}
  C(#t) C(t[#t])
  ?P(select("#", many(1, many(2, i, many(3, 4)))))
  ?P(many(i, rest(1, many(2, 3))))
  ?P((function(...) return many(...) end)(i, many(1, 2)))
end
debug.sethook()
--- constants_that_change 130 often perilune
local up, step, other = $(1|"u"|2.5), $k, $(3|"o"|nil)
local function get() return up end
local function alt() return other end
local function field(v) return v.$(x|y) end
local function add(n) local s = 0 for j = 1, n do s = s + step + I(get()) + I(up)$(| + I(alt())) end return s end
for i = 1, $(4|6) do
  C(add($(5|12))) C(get())
  ?for j = 1, 4 do C(select(2, pcall(field, $(1|true|print)))) end
  if i == $(2|3|4) then $(debug.setupvalue(get, 1, $(7|"s"|nil))|debug.upvaluejoin(get, 1, alt, 1)|debug.setupvalue(alt, 1, i)|debug.setmetatable($(1|true|print), {__index = function(v, k) return k end})) end
  ?if i % 2 == 0 then debug.setmetatable($(1|true|print), $(nil|{__index = {x = i}})) end
  ?other = i
  ?P(add(3), get(), alt())
end
debug.setmetatable(1, nil) debug.setmetatable(true, nil) debug.setmetatable(print, nil)
P(get(), alt(), up, other)
