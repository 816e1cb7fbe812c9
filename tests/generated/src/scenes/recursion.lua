--- tail 60
local function down(n, s)
  ?s = N(s) $o $n
  if n <= 0 then return s$(|, n|, s) end
  return down(n - 1, N(s) $(+ n|* 2|+ 1))
end
for i = 1, $t do C(down($(i|12|i * 3), $n)) end
--- up 80
local function up(n)
  if n < 1 then return $k end
  local r = up(n - 1)
  ?C(n)
  return $(N(r) + n|N(r) * 2 % 1000|r, n|$k + N(r))
end
for i = 1, $t do P(up($(i|9|i % 4))) end
--- fib 150
local fib
fib = function(n) if n < 2 then return n end return fib(n - 1) $(+|-) fib(n - $(2|1)) end
for i = 1, 6 do C(fib(i)) end
--- mutual 80
local even, odd
function even(n) if n == 0 then return true end return $(|not )odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
for i = 1, $t do P(even(i), odd(i + $k)) end
--- mutual_results 80
local f, g, h
function f(n, ...) if n < 1 then return ... end return g(n - 1, n, ...) end
function g(n, a, ...) if n < 1 then return a, ... end return h(n - 1, ...) end
function h(n, ...) return f(n - 1, select("#", ...), ...) end
for i = 1, $t do P(f(i % 9)) P((g(i, 1, 2))) end
--- ackermann 200
local function ack(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ack(m - 1, 1) end
  return ack(m - 1, ack(m, n - 1))
end
for i = 1, $(2|3|4) do C(ack(2, i)) end
--- pcall 60
local function f(n)
  if n == 0 then $(return 1|error("end")|error({}, 2)|return nil + 1) end
  local ok, r = pcall(f, n - 1)
  ?if not ok then error(r, 0) end
  return $(r, ok|ok|N(r) + 1)
end
for i = 1, $t do P(pcall(f, i % $k)) end
--- pcall_tail 60
local function f(n) if n < 1 then return 1, 2, 3 end return pcall(f, n - 1) end
for i = 1, $t do P(f(i % 6)) C(select("#", f(i))) end
--- xpcall 60
local function f(n) if n < 1 then error("bottom") end return xpcall(f, function(e) return n .. text(e) end, n - 1) end
for i = 1, $t do P(f(i % 5)) end
--- varargs 80
local function f(n, ...)
  if n == 0 then return select("#", ...), ... end
  return f(n - 1, n, ...)
end
for i = 1, $t do P(f(i % 12$(|, $n|, nil))) end
--- tables 100
local function tree(d) if d == 0 then return {} end return {tree(d - 1), tree(d - 1), v = d} end
local function check(t) if t[1] then return 1 + check(t[1]) + check(t[2]) end return 1 end
for i = 1, 4 do C(check(tree(i % 4))) end
--- meta_index 60
local mt = {}
mt.__index = function(t, k) if k < 1 then return $n end return $(t[k - 1]|t[k - 1], 1|N(t[k - 1]) + 1) end
local o = setmetatable({}, mt)
for i = 1, $t do C(o[i % 9]) end
--- meta_call 60
local mt = {}
mt.__call = function(self, n, ...) if n < 1 then return ... end return self(n - 1, n, ...) end
local o = setmetatable({}, mt)
for i = 1, $t do P(o(i % 7)) end
--- meta_arith 60
local mt = {}
local function new(x) return setmetatable({x = x}, mt) end
mt.__add = function(a, b) if a.x < 1 then return b end return new(a.x - 1) + new(b.x + 1) end
mt.__concat = function(a, b) if a.x < 1 then return b.x end return new(a.x - 1) .. new(b.x * 2 % 100) end
for i = 1, $t do C((new(i % 6) + new(i)).x) C(new(i % 5) .. new(i)) end
--- coroutines 60
local function f(n) if n < 1 then coroutine.yield(0) return 1 end local r = coroutine.wrap(f)(n - 1) coroutine.yield(r) return N(r) + 1 end
for i = 1, $(3|5) do local c = coroutine.wrap(f) C(c(i % 5)) C(c()) end
--- deep 120
local function f(n, $(a|a, b, c|...)) if n < 1 then return $(1|n, 2|$n) end local x, y, z = $k, n, $n return $(f(n - 1, x)|(f(n - 1, y))|N(f(n - 1, z)) + x) end
C(f($(50|90|100))) C(f(40))
--- overflow 2500
local function f(n, ...) return 1 + f(n + 1, $(n|...|n, n)) end
local ok, e = pcall(f, 1)
C(ok) P(type(e), e and tostring(e):match("stack overflow"))
--- overflow_meta 2500 perilune
local o = setmetatable({}, {})
getmetatable(o).__index = function(t, k) return t[k + 1] $(|+ 1) end
local ok, e = pcall(function() return o[1] end)
C(ok) P(type(e))
--- sum_of_levels 90
local function f(n, t) if n == 0 then return #t end t[#t + 1] = n local r = f(n - 1, t) t[#t] = nil return r + #t end
for i = 1, $t do C(f(i % 8, {})) end
