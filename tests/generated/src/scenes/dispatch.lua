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
--- fields_replaced 350 often
local module, other = {}, {}
local function make(k, text) return loadstring("local k, N, C, error = ... return function(a, b) " .. text .. " return N(a) $o k end")(k, N, C, error) end
for i = 1, 4 do module["f" .. i] = make(i, "") other["g" .. i] = make(i + $k, "C(b)") end
module.again = function(a, b) if N(b) <= 0 then return a end return $(module.again(a, N(b) - 1)|module.f1(module.again(a, N(b) - 1))) end
local function replace(i)
  $(module.f1 = make(i % 5, "")|module["f" .. i % 4 + 1] = make(i % 7, "C(b)")|rawset(module, "f" .. i % 3 + 1, make($k, ""))|other.g1, module.f2 = make(i % 3, ""), other.g2)
  ?module.again = function(a, b) return N(a) + N(b) + i end
  ?other.g2 = make(i, "if N(a) % 7 == 0 then error('g') end")
end
local function inner(i)
  local s = 0
  for j = 1, $(3|9|$t) do
    s = (N(s) + N(module.f1(s, j))) % 9973
    ?if j == $t then replace(i) end
  end
  return s
end
for i = 1, $t * 6 do
  C($(module.f1(i, $x)|module.f2(module.f3(i, 1), i)|inner(i)|module.again(i, i % 9)))
  *$(C(other.g1(i, $n))|P(pcall(other.g2, i, i))|C(inner(i % 5))|C(module.f4(i, other)))
  ?if i % $(13|29|50) == 0 then replace(i) end
  ?if i == $t * 3 then replace($k) end
  ?if i % 40 == 0 then C(coroutine.wrap(function() replace(i) return inner(i) end)()) end
  ?C((("ab"):gsub("b", function() if i % 31 == 0 then replace(i) end return "c" end)))
end
--- methods_replaced 350 often
local base, class = {}, {}
base.__index, class.__index = base, $(class|function(t, k) return class[k] end|base)
setmetatable(class, base)
local function make(k) return loadstring("local k, N = ... return function(self, x) self.n = (N(self.n) + N(x)) % 1000 return self.n + k end")(k, N) end
base.get, base.put, class.put = make(1), make(2), make(3)
base.__add = function(a, b) return N(type(a) == "table" and a.n or a) + N(type(b) == "table" and b.n or b) end
local objects = {setmetatable({n = 1}, base), setmetatable({n = 2}, class), setmetatable({}, class)}
local function run(o, n)
  local s = 0
  for i = 1, n do
    s = (N(s) + N(o:get(i)) + N(o:put($n))) % 9973
    ?s = N(o + s)
  end
  return s
end
for i = 1, $t * 5 do
  local o = objects[$(i % 3 + 1|1|2|i % 2 + 1)]
  C($(run(o, 5)|o:get(i)|run(o, $t)))
  if i % $(11|23|37) == 0 then
    $(base.get = make(i % 4)|class.get = make(i % 4)|class.put = nil|class.put = make(i)|base.__add = function(a, b) return i end)
    ?class.get = nil
    ?setmetatable(class, {__index = $(base|{get = make(9), put = make(8)}|function(t, k) return base[k] end)})
    ?setmetatable(o, $(base|class))
    ?base.put = function(self, x) $(base.put = make(5)|class.get = make(i)|self.n = x) return N(x) end
  end
end
for i = 1, 3 do C(objects[i].n) end
