local function counter() local n = 0; return function() n = n + 1; return n end end
local s = 0
for i = 1, 300 do local c = counter(); c(); c(); s = s + c() end
print(s)
-- assigned after capture
local t = {}
for i = 1, 200 do
  local x = i
  local f = function() x = x + 1; return x end
  x = x * 2
  local y = f()
  t[i] = f
  if i % 50 == 0 then x = -1 end
  s = s + x + y
end
print(s, t[1](), t[50](), t[100](), t[199]())
-- captured variable outside the loop
local total = 0
local function add(v) total = total + v end
for i = 1, 200 do add(i); total = total - 1; local g = function() return total end; s = s + g() end
print(total, s)
-- shared between two closures
local function pair() local v = 0; return function() return v end, function(x) v = x end end
local acc = 0
for i = 1, 200 do local g, st = pair(); st(i); acc = acc + g(); st(acc % 7); acc = acc + g() end
print(acc)
-- goto continue with captured
local fs = {}
for i = 1, 200 do
  local z = i
  if i % 3 == 0 then goto cont end
  fs[#fs + 1] = function() z = z + 1 return z end
  ::cont::
end
print(#fs, fs[1](), fs[2](), fs[100](), fs[1]())
-- nested closures
local function outer(a) return function(b) return function(c) a = a + b + c; return a end end end
acc = 0
for i = 1, 200 do local f = outer(i); local g = f(2); acc = acc + g(3) + g(4) end
print(acc)
-- while with break
local n, keep = 0
while true do
  local k = n
  keep = function() return k end
  n = n + 1
  if n > 150 then break end
end
print(keep(), n)
local function mk(i) local a, b = i, i + 1; local function f() return a + b end; a = a + 10; return f() , f end
acc = 0
local last
for i = 1, 200 do local v, f = mk(i); acc = acc + v; last = f end
print(acc, last())
local ring = {}
for i = 1, 100 do ring[i % 4 + 1] = { i, function() return i end } end
for i = 1, 4 do local e = ring[i]; print(e[1], e[2]()) end
local src, fs, sum = {}, {}, 0
for i = 1, 200 do src[i] = i * 2 end
for k, v in ipairs(src) do fs[k] = function() return v + k end end
for k = 1, 200 do sum = sum + fs[k]() end print(sum)
for k, v in pairs(src) do fs[k] = function() v = v + 1 return v - k end end
for k = 1, 200 do sum = sum + fs[k]() end print(sum)
for k, v in next, src do fs[k] = function() v = v + 1 return v - k end v = v + 3 end
for k = 1, 200 do sum = sum + fs[k]() end print(sum)
