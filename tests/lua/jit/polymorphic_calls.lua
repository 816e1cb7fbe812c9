-- Calls in hot loops whose target changes: by value, by receiver, by argument type, by number of arguments.

local function inc(x) return x + 1 end
local function dec(x) return x - 1 end
local function twice(x) return x * 2 end
local function half(x) return x / 2 end

-- A cycle of targets.
local ops = { inc, twice, dec, half }
local x = 1
for i = 1, 2000 do x = ops[i % 4 + 1](x) end
print(x)

-- Target changes rarely.
local f, total = inc, 0
for i = 1, 1000 do
  if i == 700 then f = twice end
  if i == 900 then f = function(v) return v * 3 end end
  total = (total + f(i)) % 65521
end
print(total)

-- Lua functions and builtins by turns.
local mix = { math.floor, inc, math.abs, tostring, math.sqrt, function(v) return -v end }
local acc = 0
for i = 1, 1200 do acc = acc + tonumber(mix[i % 6 + 1](i)) % 10 end
print(string.format("%.6f", acc))

-- Receivers of different classes with the same method name.
local Circle, Square, Line = {}, {}, {}
Circle.__index, Square.__index, Line.__index = Circle, Square, Line
function Circle:area() return 3 * self.r * self.r end
function Square:area() return self.a * self.a end
function Line:area() return 0 end
local shapes = {}
for i = 1, 300 do
  shapes[i] = i % 3 == 0 and setmetatable({ r = i }, Circle) or i % 3 == 1 and setmetatable({ a = i }, Square) or setmetatable({}, Line)
end
local area = 0
for round = 1, 10 do for i = 1, #shapes do area = (area + shapes[i]:area()) % 1000003 end end
print(area)

-- One object with its own method among many.
shapes[150].area = function(self) return 7 end
area = 0
for i = 1, #shapes do area = area + shapes[i]:area() end
print(area)

-- A callback that is called with different argument types and counts.
local function apply(g, ...) return g(...) end
local log = 0
for i = 1, 900 do
  local r
  if i % 3 == 0 then r = apply(math.max, i, 5, 2)
  elseif i % 3 == 1 then r = apply(function(s) return #s end, "text" .. i)
  else r = apply(select, "#", nil, i) end
  log = (log * 3 + r) % 10007
end
print(log)

-- The same closure prototype with different upvalues.
local function adder(n) return function(v) return v + n end end
local adders = {}
for i = 1, 10 do adders[i] = adder(i) end
local s = 0
for i = 1, 2000 do s = adders[i % 10 + 1](s) % 100003 end
print(s)

-- Callable tables among functions.
local callable = setmetatable({ calls = 0 }, { __call = function(self, v) self.calls = self.calls + 1 return v + 100 end })
local targets = { inc, callable, dec }
s = 0
for i = 1, 900 do s = targets[i % 3 + 1](s) end
print(s, callable.calls)

-- Mutual recursion with changing partner.
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local evens = 0
for i = 1, 300 do
  if i == 200 then odd = function(n) return n % 2 == 1 end end
  if even(i) then evens = evens + 1 end
end
print(evens)

-- Calls through several layers, where only the innermost changes.
local inner = inc
local function mid(v) return inner(v) + 1 end
local function outer(v) return mid(v) + 1 end
s = 0
for i = 1, 600 do
  if i == 300 then inner = dec end
  s = outer(s)
end
print(s)
print("ok")
