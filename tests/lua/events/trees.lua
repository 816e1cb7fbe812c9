-- Hot trees of traces are compiled as one function. A side trace asks for it when it has run often enough.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=5", "budget=0")
jit.off(true)

-- What a function returns, the traces that were made meanwhile, and the functions of trees.
local function run(hottree, f, ...)
  jit.flush()
  jit.opt.start("hottree=" .. hottree)
  local before = util.counters()
  local result = f(...)
  local after = util.counters()
  return result, after.closed - before.closed, after.trees - before.trees, after.mcode
end
jit.off(run)

-- A loop of two paths.
local function branch(n)
  local even, odd = 0, 0
  for i = 1, n do
    if i % 2 == 0 then even = even + i else odd = odd + 0.5 end
  end
  return even * 2 + odd
end
local result, traces, trees, small = run(1000000, branch, 20000)
assert(result == 20000 * 10001 + 5000 and traces == 2 and trees == 0, trees)
local again, same, one, large = run(0, branch, 20000)
assert(again == result and same == traces, "a tree is no reason for other traces")
assert(one == 1 and large > small, one)
-- A thousand runs for each of some twenty instructions are more than ten thousand.
assert(select(3, run(1000, branch, 20000)) == 0)
assert(select(3, run(100, branch, 20000)) == 1)

-- The iteration that is recorded takes the side of a branch that no other takes: the loop is recorded again. Without that there is a root trace
-- and one for the usual side.
local function seldom(n)
  local usual, rare = 0, 0
  for i = 1, n do
    if i > 5 and i < 20 then rare = rare + 1 else usual = usual + i end
  end
  return usual + rare
end
result, traces, trees = run(1000000, seldom, 20000)
assert(traces == 2 and trees == 0, traces)
again, same, one = run(10, seldom, 20000)
assert(again == result and same == 3 and one == 0, same)

-- The side in front of the loop is taken more often than the loop is entered, but the loop, where the field does not change, goes round each time.
local Date = {}
Date.__index = Date
local function date(month, day) return setmetatable({ month = month, day = day }, Date) end
local lengths = { 31, 28, 31 }
local function leap(year) return year % 4 == 0 end
local function last(d, year) return d.month == 2 and leap(year) and 29 or lengths[d.month] end
function Date:next(year)
  local d = date(self.month, self.day + 1)
  if d.day > last(d, year) then d.day, d.month = 1, d.month % 3 + 1 end
  return d
end
local function days(n)
  local d, sum = date(3, 1), 0
  for i = 1, n do
    d = d:next(4 + i % 3)
    sum = sum + d.day
  end
  return sum
end
result, traces, trees = run(1000000, days, 20000)
assert(trees == 0, trees)
again, same, one = run(10, days, 20000)
local loops = 0
for n = 1, 40 do
  local info = util.traceinfo(n)
  if info and info.linktype == "loop" then loops = loops + 1 end
end
assert(again == result and loops == 1 and one > 0, loops .. " " .. one)

-- The same if the rare side leads into a loop that has a trace, so that the root trace ends there.
local function seldom_inner(n)
  local usual, rare = 0, 0
  for i = 1, n do
    if i > 5 and i < 40 then
      for k = 1, i do rare = rare + k end
    else
      usual = usual + i
    end
  end
  return usual + rare
end
result, traces, trees = run(1000000, seldom_inner, 20000)
assert(trees == 0, trees)
again, same, one = run(10, seldom_inner, 20000)
assert(again == result and same == traces + 1, same)

-- The same where a function has a trace of its own, which returns into the loop and jumps to its start: the interpreter does not come to the
-- end of the loop, where recordings begin otherwise. Sums are integers first, and then too large for that.
local function add(a, b, c) return a + b + (c or 0) end
local function sums(n)
  local s = 0
  for i = 1, n do s = s + add(i * 1000, 2) + add(1, i * 1000, 2) end
  return s
end
result, traces, trees = run(1000000, sums, 20000)
assert(trees == 0, trees)
again, same, one = run(10, sums, 20000)
assert(again == result and same > traces and one == 0, one)

-- A function that calls itself: traces are added, and the tree is compiled again with them.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
result, traces, trees = run(0, fib, 20)
assert(result == 6765 and traces >= 3 and trees >= 2, trees)
assert(trees < traces, "one for each side trace at most")

-- Numbers become doubles on one path: each link goes where its types belong.
local function types(n)
  local x, steps = 1, 0
  for i = 1, n do
    if x > 1000 then x = x / 3 elseif i % 3 == 0 then x = x * 5 else x = x + 1 end
    steps = steps + (x % 1 == 0 and 1 or 2)
  end
  return steps
end
local expected = run(1000000, types, 3000)
assert(run(0, types, 3000) == expected)

-- Errors in side traces, and exits that become hot later, find their frames.
local function fails(n)
  local caught = 0
  for i = 1, n do
    local ok = pcall(function(t)
      if i % 2 == 0 then caught = caught + 1 end
      if i % 5 == 0 then error("five") end
      if i > n / 2 and i % 7 == 0 then return t.x.y end
      return #t
    end, {})
    if not ok then caught = caught + 100 end
  end
  return caught
end
expected = run(1000000, fails, 1000)
assert(run(0, fails, 1000) == expected)

-- The function of a tree ends with its traces.
do
  local before = util.counters()
  local f = assert(loadstring("local a, b = 0, 0 for i = 1, 2000 do if i % 2 == 0 then a = a + i else b = b + 1 end end return a + b"))
  assert(f() == 1001000 + 1000)
  local made = util.counters()
  assert(made.trees > before.trees and made.mcode > before.mcode)
  f = nil
  collectgarbage()
  local after = util.counters()
  assert(after.mcode == before.mcode and after.alive == before.alive, after.mcode - before.mcode)
end

-- A side trace that leads through a function which dies ends, and the function of its tree with it; the loop goes on in its own code.
do
  jit.flush()
  local function caller(f, n)
    local s = 0
    for i = 1, n do
      if i % 2 == 0 then s = s + f(i) else s = s + 1 end
    end
    return s
  end
  jit.on(caller)
  local source = "return function(x) if x % 4 == 0 then return 1 end return 2 end"
  for i = 1, 5 do
    local f = assert(loadstring(source))()
    local before = util.counters()
    assert(caller(f, 400) == 200 + 100 + 200)
    assert(i > 1 or util.counters().trees > before.trees)
    f = nil
    collectgarbage()
    assert(caller(tonumber, 400) == 200 + 200 * 201)
  end
end

-- Samples need to know where in a trace the program is: trees are not compiled meanwhile.
require("jit.profile").start("li1000", function() end)
assert(select(3, run(0, branch, 20000)) == 0)
require("jit.profile").stop()
assert(select(3, run(0, branch, 20000)) == 1)
print("ok")
