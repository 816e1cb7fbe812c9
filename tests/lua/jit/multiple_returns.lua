-- Functions with several results in hot loops: all used, some dropped, more than expected, none.

local function two(a) return a, a + 1 end
local function three(a) return a, a * 2, "s" .. a % 10 end
local function none() end
local function vary(n) if n % 4 == 0 then return elseif n % 4 == 1 then return n elseif n % 4 == 2 then return n, n + 0.5 else return n, "x", n end end

local s = 0
for i = 1, 1000 do
  local a, b = two(i)
  local c, d, e = three(i)
  local f = three(i)
  local g, h, j, k = two(i)
  s = s + a + b + c + d + #e + f + g + h + (j == nil and 1 or 0) + (k == nil and 1 or 0)
end
print(s)

local nils, texts, sum = 0, 0, 0
for i = 1, 1000 do
  local a, b, c = vary(i)
  if a == nil then nils = nils + 1 else sum = sum + a end
  if b == "x" then texts = texts + 1 elseif b then sum = sum + b end
  if c then sum = sum + c end
  sum = sum + select("#", vary(i)) + (vary(i) or 0)
end
print(nils, texts, sum)

-- As arguments, in constructors, in the middle and at the end, in parentheses.
local acc = 0
for i = 1, 500 do
  acc = acc + math.max(two(i)) + math.max(three(i), two(i)) + select("#", two(i), three(i)) + select("#", (three(i)))
  local t = { two(i), three(i), (two(i)) }
  acc = acc + #t + t[1] + t[2]
  t = { three(i) }
  acc = acc + #t + t[2]
  t = { x = three(i), none(), two(i) }
  acc = acc + (t.x or 0) + (t[2] or 0) + (t[3] or 0)
end
print(acc)

-- Assignment of many: swaps and rotations through calls.
local function swap(a, b) return b, a end
local function rotate(a, b, c) return b, c, a end
local p, q, r = 1, 2, 3
for i = 1, 1001 do
  p, q = swap(p, q)
  p, q, r = rotate(p, q, r)
  if i % 100 == 0 then r, p = p, r end
end
print(p, q, r)
local fa, fb = 0, 1
local function fstep(a, b) return b, (a + b) % 1000007 end
for _ = 1, 1000 do fa, fb = fstep(fa, fb) end
print(fa, fb)

-- Recursive results; divmod; min and max at once.
local function divmod(a, b) local m = a % b return (a - m) / b, m end
local qs, ms = 0, 0
for i = 1, 800 do
  local d, m = divmod(i * 7, i % 9 + 1)
  qs, ms = qs + d, ms + m
end
print(qs, ms)
local function minmax(t, i, j)
  if i == j then return t[i], t[i] end
  local mid = math.floor((i + j) / 2)
  local lo1, hi1 = minmax(t, i, mid)
  local lo2, hi2 = minmax(t, mid + 1, j)
  return math.min(lo1, lo2), math.max(hi1, hi2)
end
local list = {}
for i = 1, 300 do list[i] = i * 7919 % 307 end
print(minmax(list, 1, #list))

-- Builtins with several results.
local ints, fracs, found, bytes = 0, 0, 0, 0
for i = 1, 500 do
  local a, b = math.modf(i / 8)
  ints, fracs = ints + a, fracs + b
  local m, e = math.frexp(i)
  fracs = fracs + m + e
  local x, y, cap = ("key" .. i .. "=v"):find("(%d+)=")
  found = found + x + y + cap
  local b1, b2, b3 = ("abc"):byte(1, i % 3 + 1)
  bytes = bytes + b1 + (b2 or 0) + (b3 or 0)
  local ok, v, w = pcall(two, i)
  if ok then bytes = bytes + v + w end
  local nx, nv = next({ i })
  bytes = bytes + nx + nv + select(2, ("x"):gsub("x", "y"))
end
print(ints, fracs, found, bytes)

-- Returned through tail calls, coroutines and methods; fixed results out of varargs.
local obj = { v = 5 }
function obj:pair(k) return self.v + k, self end
function obj:chain(k) return self:pair(k) end
local o = 0
for i = 1, 500 do
  local v, self = obj:chain(i)
  o = o + v + (self == obj and 1 or 0) + ((obj:chain(i)))
end
print(o)
local gen = coroutine.wrap(function() while true do coroutine.yield(1, 2, 3) coroutine.yield() coroutine.yield(nil, 5) end end)
local g = 0
for i = 1, 600 do
  local a, b, c = gen()
  g = g + (a or 10) + (b or 100) + (c or 1000)
end
print(g)
print("ok")
