-- A side trace of another loop follows a loop of one or two iterations, although that has a trace.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=5", "hottree=1000000", "budget=0")
jit.off(true)

local parents = {}
local function event(what, number, _, _, parent)
  if what == "start" then parents[number] = parent end
end
jit.off(event)
jit.attach(event, "trace")

local function emit(list, x)
  local n = 0
  for i = 1, #list do n = n + list[i](x) end
  return n
end
local function one(x) return x end
local function two(x) return x + 1 end
local function outer(lists, n)
  local sum = 0
  for r = 1, n do sum = sum + emit(lists[r % 2 + 1], r) + emit(lists[1], r) end
  return sum
end

local first, second, long = { one }, { two }, {}
for i = 1, 50 do long[i] = one end
-- The outer loop has a trace with the inner one in it, and then the inner loop has one of its own.
outer({ first, first }, 100)
local roots = 0
for n = 1, 20 do roots = roots + (util.traceinfo(n) and not parents[n] and 1 or 0) end
for r = 1, 3 do emit(long, r) end
local inner
for n = roots + 1, 20 do
  local info = util.traceinfo(n)
  if info and not parents[n] and info.linktype == "loop" then inner = inner or n end
end
assert(inner, "the inner loop has no trace")

-- The side traces of the outer loop that follow another callback are linked to it, and not to the trace of the inner loop that they reach next.
outer({ first, second }, 400)
local sides = 0
for n = 1, 60 do
  local info, top = util.traceinfo(n), n
  while parents[top] do top = parents[top] end
  if info and parents[n] and top ~= inner then
    sides = sides + 1
    assert(info.link ~= inner, "linked to the inner loop")
  end
end
assert(sides > 0)
print "ok"
