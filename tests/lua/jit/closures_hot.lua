-- Closures created, called, kept and dropped in hot loops.

-- Created and called at once.
local sum = 0
for i = 1, 1000 do
  local f = function(x) return x + i end
  sum = sum + f(1)
end
print(sum)

-- Kept: every round has its own variable.
local fs = {}
for i = 1, 500 do
  local n = i
  fs[i] = function(d)
    n = n + d
    return n
  end
end
sum = 0
for round = 1, 3 do for i = 1, #fs do sum = sum + fs[i](round) end end
print(sum, fs[1](0), fs[500](0))

-- Pairs of closures over the same variable.
local function cell(v) return function() return v end, function(x) v = x end end
local gets = {}
for i = 1, 300 do
  local get, set = cell(i)
  if i % 2 == 0 then set(get() * 10) end
  gets[i] = get
end
sum = 0
for i = 1, 300 do sum = sum + gets[i]() end
print(sum)

-- Closures over loop variables of nested loops and of while loops.
local grid = {}
for i = 1, 20 do
  for j = 1, 20 do
    grid[#grid + 1] = function()
      i = i + 1
      return i * 100 + j
    end
  end
end
sum = 0
for k = 1, #grid do sum = sum + grid[k]() end
for k = 1, #grid, 7 do sum = sum + grid[k]() end
print(sum)
local ws, n = {}, 0
while n < 200 do
  n = n + 1
  local mine = n % 13
  ws[n] = function() return mine + n end
end
sum = 0
for i = 1, 200 do sum = sum + ws[i]() end
print(sum)

-- Higher-order functions with anonymous functions in the loop.
local function map(t, f) local out = {} for i = 1, #t do out[i] = f(t[i]) end return out end
local function fold(t, f, z) for i = 1, #t do z = f(z, t[i]) end return z end
local base = {}
for i = 1, 50 do base[i] = i end
local acc = 0
for round = 1, 60 do
  local doubled = map(base, function(v) return v * 2 + round end)
  acc = (acc + fold(doubled, function(x, y) return (x * 3 + y) % 10007 end, round)) % 1000003
end
print(acc)

-- compose, curry, partial application.
local function compose(f, g) return function(...) return f(g(...)) end end
local h = function(x) return x + 1 end
for _ = 1, 40 do h = compose(h, function(x) return x % 1000 + 1 end) end
sum = 0
for i = 1, 100 do sum = sum + h(i) end
print(sum)
local function curry(f) return function(a) return function(b) return function(c) return f(a, b, c) end end end end
local cat = curry(function(a, b, c) return a .. b .. c end)
local len = 0
for i = 1, 300 do len = len + #cat(i)("-")(i * 2) end
print(len)

-- Objects made of closures; memoisation.
local function account()
  local balance = 0
  return { deposit = function(v) balance = balance + v return balance end, balance = function() return balance end }
end
local accounts = {}
for i = 1, 50 do accounts[i] = account() end
for i = 1, 2000 do accounts[i % 50 + 1].deposit(i) end
print(accounts[1].balance(), accounts[50].balance())
local function memoize(f) local cache = {} return function(x) local v = cache[x] if v == nil then v = f(x) cache[x] = v end return v end end
local computed = 0
local square = memoize(function(x) computed = computed + 1 return x * x end)
sum = 0
for i = 1, 1500 do sum = sum + square(i % 60) end
print(sum, computed)

-- Escaping only sometimes.
local kept = {}
for i = 1, 800 do
  local state = i
  local f = function() state = state + 1 return state end
  f()
  if i % 200 == 0 then kept[#kept + 1] = f end
end
for i = 1, #kept do io.write(kept[i](), " ", kept[i](), " ") end
print()

-- Recursive local functions made in the loop.
sum = 0
for i = 1, 200 do
  local function down(k) if k == 0 then return i end return down(k - 1) end
  sum = sum + down(i % 10)
end
print(sum)
print("ok")
