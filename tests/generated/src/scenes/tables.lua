--- holes 60
local t = {}
for i = 1, $t do
  t[i * $(1|2|3)] = i
  ?t[i - 1] = $(nil|i)
  ?t[$(1|2|i)] = nil
  C(t[i]) C(t[i + 1])
end
local n = 0
for k, v in pairs(t) do n = n + 1 A(k, v) end
P(n, t[1], t[2], t[3])
--- array 80
local t = {}
for i = 1, $t do t[#t + 1] = $(i|$n|$s) end
for i = #t, 1, -1 do if i % $(2|3) == 0 then table.remove(t, i) end end
?table.insert(t, 1, $n)
?table.insert(t, $n)
P(#t, t[1], t[#t])
--- insert_remove 70
local t = {1, 2, 3}
for i = 1, $t do
  ?table.insert(t, $(1|#t + 1|2), i)
  ?P(table.remove(t$(|, 1|, #t|, 2)))
  ?P(pcall(table.insert, t, $(1|#t|#t + 1), $x or 0))
  ?P(pcall(table.remove, t, $(0|9|i)))
  if #t > 20 then t = {1, 2} end
  if #t < 2 then t = {4, 5, 6} end
end
P(J(t))
--- concat 50
for i = 1, $t do
  local t = {1, "a", 2.5, i}
  P(table.concat(t), table.concat(t, $(","|""|i)), table.concat(t, "-", $(2|1), $(3|4)), pcall(table.concat, t, "", 1, $(5|4)))
end
--- sort 90
local t = {}
for i = 1, $(5|12) do t[i] = (i * $(7|5|11)) % $(13|17) end
table.sort(t$(|, function(a, b) return a > b end|, function(a, b) return a % 5 < b % 5 or a % 5 == b % 5 and a < b end))
P(J(t))
?P(pcall(table.sort, t, function(a, b) return true end))
?table.sort(t) P(J(t))
--- sort_objects 90
local t = {}
local mt = {__lt = function(a, b) return a.x < b.x end}
for i = 1, $(4|9) do t[i] = setmetatable({x = i * 7 % 10 + i / 100}, mt) end
table.sort(t) for i = 1, #t do C(t[i].x) P(t[i].x) end
--- next 60
local t = {a = 1, b = 2, 3, 4}
for i = 1, $(2|4) do
  local n, k, v = 0, nil, nil
  repeat k, v = next(t, k) n = n + 1 if k ~= nil then A(k, v) end until k == nil
  P(n, next({}), (next({5})))
  t["k" .. i] = i
end
P(pcall(next, t, $("none"|{}|99)))
--- cleared_while_iterated 60
local t = {}
for i = 1, $t do t[$(i|"k" .. i|i * 10)] = i end
for r = 1, 2 do for k, v in pairs(t) do A(k, v) $(t[k] = nil|t[k] = v + 1|if v % 2 == 0 then t[k] = nil end) end end
local n = 0 for _ in pairs(t) do n = n + 1 end P(n)
--- ipairs 60
local t = {1, 2, 3, $(nil|4), 5}
for r = 1, $(2|4) do
  for i, v in ipairs(t) do C(i) C(v)
  end
  t[$(1|2|r + 3)] = $(nil|r)
end
--- move_and_new 70 perilune
local new, clear = require("table.new"), require("table.clear")
for i = 1, $(2|5) do
  local t = new($(0|4|10), $(0|4))
  for j = 1, $k do t[j] = j end
  table.move(t, $(1|2), $(3|5), $(2|1|6)$(|, {}))
  C(#t) C(t[1]) C(t[2])
  ?clear(t) P(#t, next(t))
end
--- length 60
local t = {$(|1, 2|1, 2, 3, nil|n = 1)}
local u = setmetatable({}, {__len = function() return $k end})
for i = 1, $t do
  t[#t + 1] = i
  if #t > $(3|8) then t[#t] = nil end
  C(#t) C(#u) C(rawlen and rawlen(u))
end
P(#t)
--- constructors 60
for i = 1, $t do
  local t = {i, i + 1, x = i, [i] = $k, y = {i}, $(|[2] = 7, )$(|nil, )i}
  local u = {x = 1, 2, nil, [$(3|"z"|i)] = 4}
  C(t.x) C(t[1]) C(t[2]) C(t.y[1]) C(u.x) C(u[1]) C(u[3])
  t.x = nil u.x = i
  C(t.x) C(u.x)
end
--- sunk 100
local keep
for i = 1, $(15|25) do
  local p = {x = i, y = $(i|{i}|$k)}
  local q = {p, $(p|i)}
  ?if i % $(5|7) == 0 then keep = $(p|q|{p, q}) end
  ?p.x = p.x + $k
  C(q[1].x)
end
P(type(keep), type(keep) == "table" and keep.x, type(keep) == "table" and type(keep[1]))
--- metatables_change 80
local t, mt1, mt2 = {}, {__index = {x = 1, y = 2}}, {__index = function(_, k) return k end, __newindex = function(t, k, v) rawset(t, k, $k) end}
for i = 1, $t do
  if i % $(3|4) == 0 then setmetatable(t, $(mt2|nil|mt1)) elseif i % 5 == $(1|2) then setmetatable(t, mt1) end
  t["f" .. i % 3] = i
  C(t.x) C(t.y) C(t.f0) C(t[i])
  ?mt1.__index.x = i
  ?t.x = $(nil|i)
end
--- raw 50
local t = setmetatable({}, {__index = function() return 5 end, __newindex = function() end, __len = function() return 9 end, __eq = function() return true end})
local u = setmetatable({}, getmetatable(t))
for i = 1, $t do rawset(t, i, i) t[i + 100] = 1 C(rawget(t, i)) C(rawget(t, i + 100)) C(t[i + 50]) C(rawequal(t, u)) C(t == u) C(#t) end
--- protected_metatable 30
local t = setmetatable({}, {__metatable = "locked"})
for i = 1, 3 do P(getmetatable(t), pcall(setmetatable, t, {}), getmetatable("x").__index == string) end
--- growth 90
local t, h = {}, {}
for i = 1, $(20|40) do t[i] = i h["k" .. i] = i h[i * 1000] = i
  if i % 7 == 0 then t[i - 3] = nil end end
local s = 0
for i = 1, 40 do s = s + (t[i] or 0) + (h["k" .. i] or 0) + (h[i * 1000] or 0) end
P(s)
--- two_dimensions 120
local m = {}
for i = 1, 5 do m[i] = {} for j = 1, 5 do m[i][j] = i $o j end end
local s = 0
for i = 1, 5 do for j = 1, 5 do s = s + N(m[i][j]) - N(m[j][i]) * $(1|2) end end
P(N(s))
--- aliases 80
local a = {x = 1, 1}
local b = $(a|{x = 2, 2})
for i = 1, $t do
  a.x = i b.x = (b.x or 0) + 1
  a[1] = a.x b[1] = (b[1] or 0) $(+|-) i
  C(a.x) C(b[1]) C(a[1])
  if i == $k then b = $(a|{x = 0, 0}) end
end
--- foreach 40
local function each(k, v) C(k) $(|if k == 2 then return v end) end
for i = 1, 3 do P(table.foreachi({5, 6, 7}, each)) P(pcall(table.foreach, {4}, each)) P(table.maxn({1, 2, [i * 2] = 1})) end
--- key_types 60
local t, key = {}, {}
local keys = {1, 1.5, "s", true, false, key, print, "1", -1, 2^53}
for i = 1, $t do local k = keys[$(i|I($n)) % #keys + 1] t[k] = (t[k] or 0) + i C(t[k]) C(t[keys[i % #keys + 1]]) end
P(pcall(function() t[nil] = 1 end)) P(pcall(function() t[0/0] = 1 end)) P(t[nil])
--- iterators_of_many_types 150 often
local list = {"a", 1, "b", 2.5, true, "c", 7}
local at = 0
local it = setmetatable({}, {__call = function() at = at + 1 return list[at % 8] end})
local a, b, c = 0, 0, 0
for round = 1, $(6|12) do
  for k, v in $(next, {1, 2, 3, x = 1, y = 2, [true] = 3, [2.5] = 1}|it|rawget, chain, 1|coroutine.wrap(function() for i, v in ipairs(list) do coroutine.yield(v, i) end end)|each(list)) do
    ?A(k, v)
    if type(k) == "number" then a = a + 1 elseif type(k) == "string" then b = b + 1 else c = c + 1 end
  end
end
P(a, b, c)
--- pairs_over_changing 120 often
local t, new, old = {}, $(4|"s"|2.5), $(nil|-0.0|2.5|"x")
for i = 1, $(1|2|3|4) do t[i] = i end
for round = 1, $(2|3) do
  for i = 1, $(8|10) do for k, e in pairs(t) do A($(k|"x"), e) end end
  t[$(1|2|3|5)] = new
  old, new = $(-0.0|true|"y"|7), old
end
--- pairs_with_state 130 often
local t, n = {}, 0
for i = 1, $(2|3|4|7) do t[$(i|"k" .. i|i + 0.5)] = $(i|i / 2|"v" .. i) end
local last, flag, sum, other = $(nil|false|0|"s"), $(false|nil|1), $(0|0.5|2147483640), $(nil|1|"o")
for round = 1, $(3|6|12) do
  for k, v in $(pairs(t)|next, t) do
    n = n + 1
    A(k, v)
    *$(last = $(n|true|"l" .. n % 3|n / 2|nil)|flag = not flag|last, other = other, last|sum = sum + $(1|0.5|2147483647|n)|other = n % 2 == 0 and n or "x"|if n % 5 == 0 then last = $(nil|7|"y") end)
  end
  C(n) C(last) C(flag) C(other)
  ?t[$(1|2|"k2")] = $(round|nil|"w")
end
P(n, last, flag, sum, other)
--- loops_within_iteration 700
local t = {}
for i = 1, $(3|6) do t[i] = $(i|i * 0.5|i % 3 == 0 and "s" or i|$x) end
local a, b, n = 0, nil, 0
for r = 1, $(4|9) do
  for k, v in $(pairs(t)|next, t|ipairs(t)) do
    for j = 1, $(3|6|k) do
      a = $(k|v)
      ?b = $(v|k|b)
      ?if j == k then n = n + 1 end
    end
    ?n = n + k
    ?if b == v then n = n + 0.5 end
    $(C(a) C(b)|A(a, b)|n = n * 2 % 1001)
  end
  P(a, b, n)
end
--- handed_on 80
local function id(x) if x == nil then return 0 end return x end
local function step(p, k)
  local a, b, c, d = k % 3, k % 5, k % 7, k % 11
  local s = 0
  ?if k % $(13|17|4) ~= 0 then s = s + a else s = s + p.n end
  ?if k % $(19|9|6) ~= 0 then s = s + b end
  local x = id(a) + id(b)
  ?if k % $(23|8|5) ~= 0 then s = s + c else s = s + p.s end
  s = s + id($(c|s|d))
  ?if k % $(29|7|12) == 0 then s = s + p.n + x end
  ?local q = {n = p.n, s = s} s = s + id(q.s)
  ?if k % $(31|10) == 0 then s = s + p.s + d end
  return {n = p.n + 1, s = (p.s + s + x + c + d) % 1000$(|, q = p.s)}
end
local t, prev = {n = 0, s = 0}, {n = -1, s = 0}
for k = 1, $(20|60|200) do
  ?if k % $(7|11|4) == 0 then C(prev.n + k) end
  ?prev = t
  t = step(t, k)
  ?if k % $(5|13) == 0 then C(t.s + prev.n) end
  ?if k % $(23|8) == 0 then t = {n = k, s = $k} end
  ?if k % $(9|16) == 0 then prev, t = t, prev end
end
P(t.n, t.s, prev.n, prev.s)
