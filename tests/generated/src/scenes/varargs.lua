--- select 70
local function f(...)
  local n, s = select("#", ...), 0
  for i = 1, n do local v = select(i, ...) s = s + I(v) end
  ?C((select(-1, ..., 1)))
  return s$(|, ...|, select(2, ...)|, (...))
end
for i = 1, $t do P(f(i, $x, $x)) P(f()) P(f(nil, nil)) end
--- pack 60
local function pack(...) return {n = select("#", ...), ...} end
for i = 1, $t do local t = pack(i, $(nil|$x), $x, unpack({1, 2, 3}, 1, i % 4)) C(t.n) C(t[1]) C(t[3]) end
--- through 70
local function pass(...) return ... end
local function wrap(f, ...) return pass(f(...)) end
for i = 1, $t do P(wrap(pass, i, $x)) P((wrap(pass, pass(1, 2), pass(3, i)))) C(select("#", pass(pass(i), pass(1, 2)))) end
--- many_slots 100
local function f(...)
  local a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z = ...
  ?for i = 1, 3 do z = N(z) + i end
  return $(z, a|select("#", ...)|..., y|N(a) + N(z))
end
for i = 1, $t do P(f(unpack({1, 2, 3, 4, 5, 6, 7, 8}, 1, $(i|8|30)))) end
--- table_of 60
for i = 1, $t do
  local function f(...) local t = {..., i} local u = {i, ...} return #u, t[1], u[#u] end
  P(f(i, 2, 3)) P(f()) P(f($x))
end
--- unpack 60
local t = {1, 2, 3, 4, 5}
for i = 1, $t do
  P(unpack(t, i % 3, $(5|3|i % 5))) C(select("#", unpack(t, -1, i))) P(math.max(unpack(t)))
end
P(pcall(unpack, t, 1, 1e7)) P(pcall(unpack, t, -2^31, 2^31))
--- adjusted 50
local function two() return 1, 2 end
local function none() end
for i = 1, $t do
  local a, b, c = two(), two()
  local d, e = (two())
  local g, h = none(), i
  local x = {two(), two(), (two())}
  P(a, b, c, d, e, g, h, #x, two(), none(), (none()))
end
--- call_chain 60
local o = setmetatable({}, {__call = function(self, ...) return select("#", ...), ... end})
local oo = setmetatable({}, {__call = o})
for i = 1, $t do P(o(i, $x)) P(pcall(oo, i)) P(pcall(o, i, nil)) end
--- concat_calls 60
local function j(...) local s = "" for i = 1, select("#", ...) do s = s .. text((select(i, ...))) end return s end
for i = 1, $t do P(j(i, j(), j(1, "x", nil), $x)) end
--- vararg_coroutine 70
local co = coroutine.wrap(function(...) local n = select("#", ...) while true do n = n + select("#", coroutine.yield(n, ...)) end end)
for i = 1, $t do P(co(unpack({1, 2, 3}, 1, i % 4))) end
--- main_select 50
local s = 0
local function f(a, b, ...) if ... then return f(b, ...) end return a, b end
for i = 1, $t do local a, b = f(1, 2, 3, i, i) s = s + a + b end
P(s)
--- open_lists 140 often
local function many(n, ...) if n > 0 then return n, many(n - 1, ...) end return ... end
local function pass(...) return ... end
local function count(...) return select("#", ...), (...), (select(-1, ...)) end
local list = {}
for i = 1, 40 do list[i] = $(i|"l" .. i|i / 2) end
for i = 1, $(3|5|9) do
  local n = $(4|12|25|i % 30 + 1|40)
  *$(P(count(pass(i, unpack(list, 1, n))))|local t = {i, unpack(list, $(1|2), n)} C(#t) C(t[#t])|P(count(1, pass(many($(3|9), i, "e"))))|local t = {pass(unpack(list, 1, n))} P(#t, t[1], t[#t])|P(#table.concat({pass(unpack(list, 1, n))}, ","))|P(count(pcall(pass, unpack(list, 1, n))))|P(count(("xyz"):rep(n):byte(1, -1))))
end
