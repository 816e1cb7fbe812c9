-- A loop that becomes a trace, is left, and grows side traces.
local watch = require "watch"
local util = require "jit.util"
jit.off(true)

local FOR = watch.here(3)
local function work(n)
  local sum = 0
  for i = 1, n do
    if i % 3 == 0 then
      sum = sum + 2
    else
      sum = sum + 1
    end
  end
  return sum
end

watch.start()
assert(work(300) == 400)

-- The root trace.
local first, second = watch.log[1], watch.log[2]
assert(first.what == "start" and first.number == 1 and first.func == work and first.parent == nil)
assert(first.line == FOR, first.line)
assert(second.what == "stop" and second.number == 1 and second.linktype == "loop" and second.link == 1)

-- Side traces: at exits that were reported exactly as often as it takes, in the other branch, and back to the root.
local sides = 0
for i = 3, #watch.log, 2 do
  local start, stop = watch.log[i], watch.log[i + 1]
  assert(start.what == "start" and start.func == work and start.number == (i + 1) / 2)
  assert(start.parent == 1 and start.reported == 10, start.reported)
  assert(start.line > FOR and start.line <= FOR + 4, start.line)
  assert(stop.what == "stop" and stop.number == start.number and stop.linktype == "root" and stop.link == 1)
  sides = sides + 1
end
assert(sides >= 1)
-- Where there is a side trace the exit is no longer taken to the interpreter.
for _, stop in ipairs(watch.all("stop")) do
  if stop.parent then assert(watch.exits[stop.parent][stop.exit] == 10) end
end

-- Once more: everything is compiled, so nothing is recorded, and the loop's end is the only exit.
local known, exits = #watch.log, watch.texits
assert(work(300) == 400)
assert(#watch.log == known)
assert(watch.texits - exits <= 2, watch.texits - exits)

-- Another type: the specialised trace is left, and other traces take over.
local ADD = watch.here(4)
local function total(list)
  local sum = 0
  for i = 1, #list do
    sum = sum + list[i]
  end
  return sum
end
local ints, nums = {}, {}
for i = 1, 200 do
  ints[i], nums[i] = i, i + 0.5
end
local from = #watch.log + 1
assert(total(ints) == 20100)
local start = watch.log[from]
assert(start.what == "start" and start.line == ADD - 1 and start.parent == nil)
local root = watch.log[from + 1]
assert(root.what == "stop" and root.linktype == "loop")
exits = watch.texits
assert(total(nums) == 20200)
assert(watch.texits - exits >= 10, "no exit for another type")
for _ = 1, 20 do assert(total(nums) == 20200) end
local side = watch.log[from + 2]
assert(side.what == "start" and side.parent == root.number)
exits = watch.texits
assert(total(nums) == 20200)
assert(watch.texits - exits <= 2, "the other type is not compiled")

-- A flush: numbers start again.
jit.flush()
assert(watch.log[#watch.log].what == "flush")
assert(util.traceinfo(1) == nil and util.traceinfo(0) == nil and util.traceinfo(-1) == nil and util.traceinfo(1e9) == nil)
from = #watch.log + 1
assert(work(300) == 400)
assert(watch.log[from].what == "start" and watch.log[from].number == 1)
-- Counters are shared: the function may have become hot before its loop.
assert(watch.all("stop", from)[1].number == 1)
watch.finish()
print "ok"
