--- depths 100
local function f(n, d) if n == d then error($("at " .. n|n|{n}|nil|"far", 2|"farther", 3|true)) end local r = f(n + 1, d) return r end
for i = 1, $t do P(pcall(f, 1, i % $k + 1)) end
--- caught_halfway 100
local function inner(n) if n % 3 == 0 then error("three") elseif n % 3 == 1 then local x = nil; return x.y end return n end
local function outer(n) local ok, e = pcall(inner, n) if not ok and n % 2 == 0 then error(e, 0) end return e end
for i = 1, $t do P(pcall(outer, i)) end
--- handlers 90
local function handler(e) return $(text(e) .. "!"|e|nil|{e}|error("again")|e.x|1, 2) end
for i = 1, $t do P(xpcall(function(a) if a % 2 == 0 then error($("x"|{x = 5}|a)) end return a, 1 end, handler, i)) end
--- handler_traceback 60 perilune
local function f(n) local x = n if n > 2 then error("deep") end return (f(n + 1)) end
for i = 1, $(2|4) do local ok, e = xpcall(f, function(e) return (debug.traceback(e, 1):gsub("0x%x+", "P")) end, 1) P(#e > 10, e:match("^[^\n]*")) end
--- in_metamethods 90
local mt = {__index = function(t, k) error("no " .. text(k)$(|, 2|, 0)) end, __add = function() return nil .. "x" end, __lt = function() error({}) end, __call = function(_, n) return n.x end, __concat = function() error() end, __eq = function() error("eq") end, __newindex = function(t, k, v) error("sealed", $(1|2)) end, __unm = function() return {} + 1 end}
local o, p = setmetatable({}, mt), setmetatable({}, mt)
for i = 1, $t do
  P(pcall(function() $(return o.x|return o + i|return o < p|return o(i)|return o .. i|return o == p|o[i] = i|return -o|return o[i]) end))
  ?P(pcall(function() return o.$(x|y) end))
end
--- objects 70
local E = setmetatable({}, {__tostring = function() return "E" end, __index = {code = 5}})
for i = 1, $t do
  local ok, e = pcall(error, $(E|{code = i}|i|"s"), $(0|1|2))
  C(ok) P(type(e), type(e) == "table" and e.code or e, e == E)
end
--- assert 50
for i = 1, $t do P(pcall(assert, $(i % 2 == 0|i % 3 ~= 0 and i|$b|$x), $("m"|nil|{}|i))) end
P(pcall(assert)) P(select("#", assert(1, 2, 3)))
--- wild 60
for i = 1, $t do P(pcall(function() return $w end)) end
P(pcall(function() local a, b = $x, $x return a $o b, a .. b end))
--- calls_of_anything 50
for i = 1, $t do P(pcall($x, $x)) P(pcall(function() local t = {f = $x} return t.f(i), t:g(i) end)) end
--- names_in_messages 60
local t, up = {a = {}}, nil
for i = 1, $(2|3) do
  P(pcall(function() return t.a.b.c end))
  P(pcall(function() t.x.y = 1 end))
  P(pcall(function() return up.x end))
  P(pcall(function() local l = nil return l() end))
  P(pcall(function() return undefined_global$(.x|()|[1]) end))
  P(pcall(function() return t:nomethod() end))
  P(pcall(function() return ("x"):nomethod() end))
  P(pcall(function() return #t.n, -t.a, t.a + 1 end))
end
--- in_loops 90
local n = 0
for i = 1, $t do
  local ok = pcall(function() n = n + 1 if i % $k == 0 then error("loop") end for j = 1, 3 do if i * j == $(6|8) then error("inner") end n = n + j end end)
  C(ok)
end
P(n)
--- rethrown 70
local function a(n) if n < 1 then error({level = 0}) end local ok, e = pcall(a, n - 1) e.level = e.level + 1 error(e) end
for i = 1, $t do local ok, e = pcall(a, i % 5) P(e.level) end
--- arguments_of_builtins 60
local list = {string.rep, string.sub, table.concat, math.floor, tonumber, setmetatable, ipairs, string.char, unpack, select, string.format, table.insert, rawset, string.byte, math.max, bit.band, string.find, tostring, table.maxn}
for i = 1, $t do local f = list[$(i|I($n)) % #list + 1] P(select("#", pcall(f, $x, $x)), (pcall(f, $x))) end
P(select("#", pcall(list[$k], $x, $k, $x)))
--- error_in_gsub 40
for i = 1, $t do P(pcall(string.gsub, "abc", "%w", function(c) if c == $("b"|"c"|"z") then error($("g"|{}|nil)) end return i end)) end
--- error_in_sort 40
for i = 1, $(2|3) do P(pcall(table.sort, {3, 1, $(2|"x"|nil, 4|{}), 5}, $(nil|function(a, b) if a == 5 then error("s") end return a < b end))) end
--- builtins_fail_in_loops 100
local function go(i)
  local s = 0
  for j = 1, $(3|6|10) do
    s = s + #string.$(rep|sub|format)(j % $(2|3|5) == i % $(2|3) and $({}|nil|true) or "ab", $(2|j|1))
    ?s = s + math.$(floor|abs)(j % $(3|4) == i % $(3|4) and "x" or j)
    ?C(tostring(setmetatable({}, {__tostring = function() if (i + j) % 5 == 0 then error("no text") end return "t" end})))
  end
  return s
end
for i = 1, $t do P(pcall(go, i)) end
