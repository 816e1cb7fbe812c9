--- generator 80
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield($(i|i, $n|i * 2)) end end) end
local s = 0
for v in gen($t) do s = s + N(v) end
local g = gen($t)
for i = 1, 2 do s = s + N(g()) end
P(s)
--- passing 80
local co = coroutine.create(function(a, ...)
  local n = select("#", ...)
  for i = 1, $t do
    a = N(a) + N((coroutine.yield(a, n, ...)))
    ?if $b then return a end
  end
  $(return a|error("over")|error({})|return)
end)
for i = 1, $t do P(coroutine.resume(co, i, $x)) end
P(coroutine.status(co))
--- wrap_each_time 90
local function body(n) local s = 0 for i = 1, n do s = s + i if i % $(2|3) == 0 then coroutine.yield(s) end end return s end
for i = 1, $t do local w = coroutine.wrap(body) C(w($(7|i|12))) $(|C(w())|local ok, v = pcall(w) C(v)) end
--- scheduler 150
local tasks = {}
for i = 1, $(3|5) do
  tasks[i] = coroutine.create(function() for j = 1, i + 1 do C(j) coroutine.yield(j) end $(|error("task")) end)
end
local alive = #tasks
while alive > 0 do
  for i = #tasks, 1, -1 do
    local ok, v = coroutine.resume(tasks[i])
    C(ok) C(v)
    if coroutine.status(tasks[i]) == "dead" then table.remove(tasks, i) alive = alive - 1 end
  end
end
--- yield_in_pcall 80
local co = coroutine.wrap(function()
  for i = 1, $t do
    local ok, v = pcall(function() local r = coroutine.yield(i) if $(r == 2|$b) then error("in") end return r end)
    C(ok) C(v)
  end
  return "done"
end)
for i = 1, $t do P(pcall(co, i)) end
--- yield_in_metamethods 90
local mt = {__index = function(t, k) return coroutine.yield(k) end, __add = function(a, b) return coroutine.yield(1) end, __lt = function(a, b) return coroutine.yield(2) end, __concat = function(a, b) return coroutine.yield("c") end, __call = function(self, ...) return coroutine.yield(...) end, __newindex = function(t, k, v) coroutine.yield(v) rawset(t, k, v) end, __len = function() return coroutine.yield(3) end, __unm = function() return coroutine.yield(4) end, __eq = function() return coroutine.yield(5) end}
local co = coroutine.wrap(function()
  local o, p = setmetatable({}, mt), setmetatable({}, mt)
  for i = 1, $(2|4) do
    ?C(o.x) C(o[i])
    ?C(o + 1)
    ?C(o < p) C(o > p)
    ?C(o .. "x") C("y" .. o .. 1)
    ?C(o(i, 2))
    ?o[i] = i
    ?C(-o) C(o == p)
  end
  return "end"
end)
for i = 1, 14 do local ok, v = pcall(co, $(i|i % 2 == 0|nil)) C(ok) C(v) end
--- yield_in_iterator 80
local co = coroutine.wrap(function()
  for k, v in function(_, c) if c < $(3|6) then return c + 1, coroutine.yield(c) end end, nil, 0 do C(k) C(v) end
end)
for i = 1, $t do C(select("#", pcall(co, i))) end
--- yield_across_builtin 50
local co = coroutine.wrap(function() return pcall($(table.sort, {3, 1, 2}|string.gsub, "abc", "%w"|table.foreach or next, {1, 2}|load), function(...) coroutine.yield(1) return $(1|"x"|nil) end) end)
for i = 1, 3 do P(pcall(co)) end
--- nested 90
local function level(n) return coroutine.wrap(function(...) if n > 0 then local c = level(n - 1) for i = 1, 3 do coroutine.yield(N(c(...)) + n) end else for i = 1, 3 do coroutine.yield(i) end end end) end
for i = 1, $(2|3) do local c = level(i) P(c(), c(), c(), pcall(c)) end
--- stacks_grow 150
local function deep(n, ...) if n == 0 then return coroutine.yield(...) end local a, b, c, d, e, f, g, h = n, n, n, n, n, n, n, n return $((deep(n - 1, ...))|deep(n - 1, a, ...)|N(deep(n - 1, n)) + h) end
for i = 1, $(4|8) do local co = coroutine.create(deep) C(select("#", coroutine.resume(co, $(i * 4|20|i), i))) P(coroutine.resume(co, 5)) end
--- vararg_grows 120
local function many(...) local $(a|a, b, c|x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31, x32, x33, x34, x35, x36, x37, x38, x39, x40) = ... return select("#", ...)$(|, ...) end
for i = 1, $t do C(coroutine.wrap(function(...) local s = 0 for j = 1, $k do s = s + j end return N(many($(1, 2|...|unpack({1, 2, 3}, 1, $(3|30|70))))) + s end)(i)) end
--- wrong_states 50
local co
co = coroutine.create(function() P(coroutine.resume(co)) P(coroutine.status(co)) P(coroutine.running() == co) coroutine.yield() end)
for i = 1, 3 do P(coroutine.resume(co)) P(coroutine.status(co)) end
P(pcall(coroutine.yield, 1)) P(pcall(coroutine.resume, $x)) P(pcall(coroutine.create, $x))
--- errors_through 80
local function f(n) if n == 0 then error($("x"|{}|nil|"y", 2)) end return coroutine.wrap(f)(n - 1) end
for i = 1, $t do local ok, e = pcall(f, i % 4) C(ok) P(type(e), e) end
--- isyieldable 30
P(coroutine.isyieldable and coroutine.isyieldable()) P(coroutine.wrap(function() return coroutine.isyieldable and coroutine.isyieldable() end)())
--- producer 120
local function producer() return coroutine.create(function() for i = 1, $(4|8) do coroutine.yield("x" .. i) end return nil end) end
local function filter(p) return coroutine.create(function() for n = 1, math.huge do local ok, x = coroutine.resume(p) if not ok or not x then return end coroutine.yield(n .. ":" .. x) end end) end
local f = filter(producer())
while true do local ok, x = coroutine.resume(f) if not ok or not x then break end C(x) P(x) end
--- table_of_wraps 100
local ws = {}
for i = 1, $(3|6) do ws[i] = coroutine.wrap(function(v) while true do v = N(coroutine.yield(N(v) $o i)) end end) end
for r = 1, $(2|5) do for i = 1, #ws do C(ws[i](r)) end end
--- recorded_yields 120
local co = coroutine.wrap(function() local s = 0 for i = 1, 1000 do s = s + i coroutine.yield(s) end end)
local s = 0
for i = 1, $(10|30) do s = s + co() end
P(s)
