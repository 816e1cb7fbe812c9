--- table_of_functions 250 often
local list, n = {}, $(9|10|12|14)
for i = 1, n do
  local x = $n
  ?if i % 3 == 0 then list[i] = function(a, b) return N(a) $o N(x), b end end
  ?if i % 4 == 1 then list[i] = function(...) return select("#", ...), ... end end
  ?if i % 5 == 2 then list[i] = function(a) x = N(x) + 1 if a == $k then error("e" .. i) end return x end end
  list[i] = list[i] or function(a, b, c) return a, $(b|c|x|nil) end
end
for i = 1, $t * 9 do
  local f = list[i % n + 1]
  $(C(f(i))|P(f(i, $n))|local a, b, c = f(i, $n, i) C(a) C(b)|C((f($n, i)))|P(pcall(f, i, $x))|C(select("#", f(i))))
end
--- sources_of_functions 300 often
local kinds = {}
*kinds[#kinds + 1] = "return function(a, b) local c = N(a) $o N(b) return c end"
*kinds[#kinds + 1] = "return function(a, ...) local b, c = ... return c, b, a end"
*kinds[#kinds + 1] = "return function(a) if N(a) % 3 == 0 then return end return a end"
*kinds[#kinds + 1] = "return function(a, b) for i = 1, N(a) % 3 do b = i end return b end"
*kinds[#kinds + 1] = "local up = 0 return function(a) up = N(up) + 1 return up, a end"
*kinds[#kinds + 1] = "return function(...) return ... end"
local list = {}
for i = 1, $(10|13) do list[i] = setfenv(loadstring(kinds[i % #kinds + 1] .. (" "):rep(i)), getfenv(1))() end
for i = 1, $t * 9 do
  local f = list[$(i % #list + 1|i * i % #list + 1|i % 2 == 0 and 1 or i % #list + 1)]
  $(C(f(i, $n))|P(f($n, i))|local a, b = f(i, i) C(a) C(b)|P(pcall(f, i, $x)))
end
--- tail_called 300 often
local list, n = {}, $(5|9|12|17)
for i = 1, n do
  local name = "return function(list, k, ...) if k <= 0 then return $(k|...|k, ...|) end return list[" .. i % n + 1 .. "](list, k - 1$(, ...|, k, ...|))"
  list[i] = loadstring(name .. " end")()
end
for i = 1, $t * 3 do P(list[i % n + 1](list, $(i|n + i|30)$(|, i|, i, $n))) end
--- threaded_code 300 often
local code, ops = {}, {}
for i = 1, 40 do code[i] = i * $k % 11 end
local function step(s, pc) local op = code[pc] if not op then return s, pc end return ops[op](s, pc + 1) end
for op = 0, 10 do
  ?local last = $n
  ops[op] = function(s, pc)
    s = (N(s) $(+|*|-) (op + $k)) % 100003
    ?if $b then s = N(s) + $k end
    $(local next = code[pc] if not next then return s, pc end return ops[next](s, pc + 1)|return step(s, pc))
  end
end
for i = 1, $t do P(ops[i % 11](i, 1)) end
--- builtins_by_table 200
local list = {math.abs, math.floor, tostring, type, math.max, rawlen or math.sqrt, select and math.ceil, function(x) return x end, string.len, tonumber, math.min, math.cos}
for i = 1, $t * 9 do C((list[i % #list + 1](i % 7))) end
local function back(x, f) return f(x) end
for i = 1, $t * 9 do C((back(i, list[i % #list + 1]))) end
--- methods_of_classes 250 often
local objects = {}
for i = 1, $(9|11|14) do
  local class = {id = i}
  class.__index = class
  class.get = loadstring("return function(self, x) self.n = (self.n or 0) + x" .. (" "):rep(i) .. " return self.n, self.id end")()
  ?if i % 4 == 0 then class.__index = function(t, k) return class[k] end end
  objects[i] = setmetatable({}, class)
end
for i = 1, $t * 9 do
  local o = objects[i % #objects + 1]
  $(P(o:get(i))|C(o:get($k))|local a, b = o:get(1) C(a) C(b)|C(select(2, o:get(i))))
end
--- coroutines_by_table 250
local list = {}
for i = 1, 10 do
  list[i] = loadstring("return function(a)" .. (" "):rep(i) .. " local b = coroutine.yield(a) return b, " .. i .. " end")()
end
for i = 1, $t * 3 do
  local co = coroutine.create(function(f, x) $(return f(x)|local a, b = f(x) return b, a) end)
  P(coroutine.resume(co, list[i % 10 + 1], i)) P(coroutine.resume(co, $n)) C(coroutine.status(co))
end
