-- Returns from deep recursion: to one place or several, with one result or more, of changing types, through protected calls and
-- metamethods, from coroutines, with errors on the way.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
local total = 0
for i = 1, 300 do total = total + sum(i % 120) end
print(total)

-- The result becomes a double on the way, or overflows.
local function product(n) if n == 0 then return 1 end return n * product(n - 1) end
for i = 1, 200 do total = product(20 + i % 10) end
print(total)
local function halves(n) if n == 0 then return 1 end local x = halves(n - 1) return x + n / 2 end
for i = 1, 200 do total = halves(50 + i) end
print(total)
local function words(n) if n == 0 then return 0 end local x = words(n - 1) if n == 30 then x = "s" .. x end return x end
for i = 1, 200 do total = words(20 + i % 20) end
print(total)

-- Several results, and as many as there are.
local function ends(n) if n == 0 then return 1, 2 end local a, b = ends(n - 1) return b, a + n end
local function list(n) if n == 0 then return 1, 2, 3 end return (function(...) return ... end)(list(n - 1)) end
local function grow(n) if n == 0 then return end return n, grow(n - 1) end
for i = 1, 200 do
  local a, b = ends(60)
  local c, d, e = list(40)
  total = a + b + c + d + e + select("#", grow(30))
end
print(total)

-- Two places to return to.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(20))
local function even(n) if n == 0 then return true end local r = not even(n - 1) return r end
local function odd(n) return not even(n) end
local count = 0
for i = 1, 300 do if odd(i % 90) then count = count + 1 end end
print(count)
local ping, pong
function ping(n) if n == 0 then return 0 end local r = pong(n - 1) return r + 1 end
function pong(n) if n == 0 then return 0 end local r = ping(n - 1) return r + 2 end
for i = 1, 300 do total = ping(i % 70) + pong(50) end
print(total)

-- Protected calls and metamethods between the frames.
local function guarded(n) if n == 0 then return 5 end local ok, x = pcall(guarded, n - 1) return x + 1 end
for i = 1, 200 do total = guarded(40) end
print(total)
local node = {}
node.__index = function(t, k) local next = rawget(t, "next") if not next then return 7 end return next[k] + 1 end
node.__add = function(a, b) local next = rawget(a, "next") if not next then return b end return next + (b + 1) end
local chain
for i = 1, 50 do chain = setmetatable({ next = chain }, node) end
for i = 1, 200 do total = chain.value + (chain + i) end
print(total)

-- An error far down, and a coroutine that yields there.
local function fails(n, where) if n == where then error("at " .. n, 0) end if n == 0 then return 0 end return 1 + fails(n - 1, where) end
local ok, what
for i = 1, 200 do ok, what = pcall(fails, 80, i % 100) end
print(ok, what)
local function yields(n) if n == 0 then coroutine.yield("bottom") return 0 end return 1 + yields(n - 1) end
for i = 1, 100 do
  local co = coroutine.wrap(yields)
  co(60 + i % 7)
  total = co()
end
print(total)

-- Builtins in tail position, variables that are captured.
local function fill(t, n) if n == 0 then return t end fill(t, n - 1) return rawset(t, n, n * 2) end
for i = 1, 100 do total = #fill({}, 60) end
print(total)
local function makers(n, all) if n == 0 then return all end local up = n makers(n - 1, all) all[n] = function() up = up + 1 return up end return all end
for i = 1, 100 do local all = makers(30, {}) total = all[30]() + all[30]() + all[1]() end
print(total)
