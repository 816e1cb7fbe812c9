local up, down = 1, {}
local function f(x, ...)
  up = up + 1
  down[up] = x
  if x <= 0 then return ... end
  return f(x - 1, x, ...)
end
local fs = {}
for i = 1, 12 do
  local j = i
  fs[i] = function() j = j + 1 up = nil up = "k" up = 2.5 return j + i end
end
repeat local z = #fs fs[z + 1] = function() return z end until z > 14
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local x, y, z = nil, true, false
local q = x or y and z or up == 3
x = x == nil
y = not q
do
  local a
  do local b = function() return a end a = b end
end
local total = 0
for i = 1, 30 do total = total + fs[i % 12 + 1]() + select("#", f(2, i)) end
return f(5, f(2)), fs[1](), {f(3)}, select(2, f(1, 2, 3)), fib(9), total, q, x, y
