-- Upvalues shared between several closures and the frame that made them, while all of them are hot.

-- One variable, three closures and the loop itself.
local n = 0
local function inc() n = n + 1 end
local function dbl() n = n * 2 % 10007 end
local function get() return n end
local s = 0
for i = 1, 1000 do
  inc()
  n = n + i % 3
  if i % 5 == 0 then dbl() end
  s = s + get() + n
end
print(n, s)

-- Objects made of closures, many alive, called in different orders.
local function counter(start, step)
  local value, calls = start, 0
  local function next_value()
    calls = calls + 1
    value = value + step
    return value
  end
  local function reset(v) value = v or start end
  local function stats() return value, calls end
  return next_value, reset, stats
end
local nexts, resets, stats = {}, {}, {}
for i = 1, 20 do nexts[i], resets[i], stats[i] = counter(i, i % 3 - 1) end
local acc = 0
for i = 1, 3000 do
  acc = acc + nexts[i % 20 + 1]()
  if i % 37 == 0 then resets[i % 20 + 1](i) end
  if i % 53 == 0 then resets[i % 20 + 1]() end
end
local vs, cs = 0, 0
for i = 1, 20 do
  local v, c = stats[i]()
  vs, cs = vs + v, cs + c
end
print(acc, vs, cs)

-- Siblings made in one round of a loop share, those of different rounds do not.
local adders, readers = {}, {}
for i = 1, 100 do
  local cell = i
  adders[i] = function(d) cell = cell + d end
  readers[i] = function() return cell end
end
for round = 1, 20 do for i = 1, 100 do adders[i](round * i % 7) end end
local total = 0
for i = 1, 100 do total = total + readers[i]() end
print(total)

-- Open upvalues: the frame still runs and changes the variable between calls.
local function run(limit)
  local a, b = 0, 1
  local function step() a, b = b, (a + b) % 1000003 end
  local function peek() return a * 2 + b end
  local sum = 0
  for i = 1, limit do
    step()
    if i % 10 == 0 then a = a + 1 end
    sum = (sum + peek()) % 1000003
  end
  return sum, a, b, step, peek
end
local sum, a, b, step, peek = run(500)
print(sum, a, b)
for _ = 1, 300 do step() end
print(peek())

-- Nested levels: the same variable from two depths.
local function outer()
  local x, log = 0, 0
  local function level1()
    local y = 0
    local function level2()
      x = x + 1
      y = y + x
      return y
    end
    for _ = 1, 50 do log = log + level2() end
    return y
  end
  local r = 0
  for _ = 1, 20 do r = r + level1() end
  return r, x, log
end
print(outer())

-- Shared between coroutines.
local shared, order = 0, 0
local function worker(k)
  return coroutine.wrap(function()
    while true do
      for _ = 1, k do shared = shared + 1 end
      order = (order * 3 + shared) % 10007
      coroutine.yield()
    end
  end)
end
local ws = { worker(1), worker(5), worker(60), worker(2) }
for i = 1, 400 do ws[i % 4 + 1]() shared = shared - 3 end
print(shared, order)

-- The shared variable changes its type under a hot reader.
local v = 1
local function set(x) v = x end
local function read() if type(v) == "number" then return v elseif v then return 100 else return 1000 end end
local seen = 0
for i = 1, 1200 do
  if i == 300 then set("s") elseif i == 500 then set(nil) elseif i == 700 then set(2.5) elseif i == 900 then set({}) elseif i == 1000 then set(7) end
  seen = seen + read()
end
print(seen)

-- Mutable state in recursion; memo tables as upvalues; a counter of depth.
local memo, hits, depth, deepest = {}, 0, 0, 0
local function ways(k)
  depth = depth + 1
  if depth > deepest then deepest = depth end
  local r
  if memo[k] then
    hits = hits + 1
    r = memo[k]
  elseif k < 3 then
    r = k
  else
    r = (ways(k - 1) + ways(k - 2) + ways(k - 3)) % 1000003
    memo[k] = r
  end
  depth = depth - 1
  return r
end
print(ways(200), hits, depth, deepest)

-- Closures that swap their upvalues through debug.upvaluejoin before becoming hot.
local c1, c2 = 1, 100
local function r1() return c1 end
local function r2() c2 = c2 + 1 return c2 end
debug.upvaluejoin(r1, 1, r2, 1)
local j = 0
for _ = 1, 300 do j = j + r1() + r2() end
print(j, c1, c2)
print("ok")
