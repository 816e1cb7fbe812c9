-- Calls that are not compiled: the trace ends before them, and another trace starts after them.
local watch = require "watch"
local util = require "jit.util"
jit.off(true)

watch.start()

-- The traces made while `f` runs, by number: what each start and stop told.
local function traces(f, ...)
  local from, made = #watch.log + 1, {}
  f(...)
  for i = from, #watch.log do
    local e = watch.log[i]
    if e.what == "stop" then made[#made + 1] = { number = e.number, start = made.start, stop = e } end
    if e.what == "start" then made.start = e end
  end
  return made
end

-- In a loop: one trace up to the call, one from there to the loop.
local function loop(n)
  local sum = 0
  for i = 1, n do
    local count = collectgarbage "count"
    sum = sum + (count > 0 and i or 0)
  end
  return sum
end
local made = traces(loop, 200)
assert(#made == 2, #made)
local first, second = made[1], made[2]
assert(util.traceinfo(first.number).linktype == "stitch")
assert(first.stop.func == collectgarbage, "not the builtin that is in the way")
assert(second.start.parent == first.number and second.start.exit == -1, "not told as stitched")
local info = util.traceinfo(second.number)
assert(info.linktype == "root" and info.link == first.number)
assert(second.stop.func == loop and second.start.func == loop)
local before = util.counters()
assert(loop(1000) == 500500)
local after = util.counters()
assert(after.deopt - before.deopt <= 2, "guards fail")
local entered = after.entered - before.entered
assert(entered >= 1000 and entered <= 1010, "not one way into compiled code for each call")

-- The call comes back after other coroutines have run.
local function numbers(n)
  local sum = 0
  for i = 1, n do
    coroutine.yield(i)
    sum = sum + i
  end
end
local function consumer()
  local sum = 0
  for i in coroutine.wrap(function() numbers(500) end) do sum = sum + i end
  assert(sum == 125250)
end
jit.off(consumer)
made = traces(consumer)
local stitched = 0
for _, t in ipairs(made) do stitched = stitched + (t.start.exit == -1 and 1 or 0) end
assert(stitched >= 1, stitched)

-- Flushed, the calls come back to the interpreter.
jit.flush()
assert(not util.traceinfo(first.number))
assert(loop(10) == 55)

-- An open list of results goes from one trace to the next, however long it is.
local function several(n)
  local sum = 0
  for i = 1, n do sum = sum + select("#", coroutine.resume(coroutine.create(function() return unpack({}, 1, i % 5) end))) end
  return sum
end
assert(several(500) == 1500, several(500))

-- The position of an error, and the lines of a traceback, are those of the code.
local function fails(n)
  for i = 1, n do
    local text = debug.traceback("here")
    assert(text:find("stitch.lua:" .. watch.here(-1), 1, true), text)
    loadstring(i < n and "" or nil)
  end
end
local ok, message = pcall(fails, 100)
assert(not ok and message:find("stitch.lua:" .. watch.here(-4) .. ": bad argument #1 to 'loadstring'", 1, true), message)

-- Nothing is stitched to a trace that is too short.
jit.flush()
jit.opt.start("minstitch=1000")
made = traces(loop, 200)
assert(#made == 0)
jit.opt.start("minstitch=0")

watch.finish()
print "ok"
