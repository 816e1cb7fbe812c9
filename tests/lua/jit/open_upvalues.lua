-- Variables of enclosing functions that still run, read and written by functions in hot loops.
local n, s, acc = 0, "", 0
local function inc() n = n + 1 end
local function add(x) acc = acc + x return acc end
for i = 1, 1000 do inc() add(i * 0.5) end
print(n, acc)
local function outer(k)
  local c, log = 0, {}
  local function tick(x) c = c + x if c % 100 == 0 then log[#log + 1] = c end return c end
  local function reset() c = 0 end
  for i = 1, k do tick(i % 3) if i % 250 == 0 then reset() end end
  local function get() return c end
  return tick, get, #log
end
local t1, g1, l1 = outer(1000)
print(t1(5), g1(), l1)
local sum = 0
for i = 1, 50 do local t, g, l = outer(i) sum = sum + t(1) + g() + l end
print(sum)
-- recursion: the same closure's variable in another frame
local function rec(d, f)
  local v = d
  local function bump() v = v + 1 return v end
  if d == 0 then return f and f() or 0 end
  local r = 0
  for i = 1, 5 do r = r + bump() end
  return r + rec(d - 1, bump) + bump()
end
local q = 0
for i = 1, 60 do q = q + rec(6) end
print(q)
local x = 1
local function flip() if type(x) == "number" then x = "s" .. x else x = #x end return x end
for i = 1, 300 do flip() end
print(x)
local co = coroutine.wrap(function() for i = 1, 200 do n = n + 1 if i % 50 == 0 then coroutine.yield(n) end end end)
for i = 1, 4 do print(co()) end
print(n)
