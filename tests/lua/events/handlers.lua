-- Attaching and taking away; what handlers may do.
local util = require "jit.util"
jit.off(true)

local function loop(n)
  local sum = 0
  for i = 1, n do sum = sum + i end
  return sum
end
local function fresh() return loadstring "local n = ... local sum = 0 for i = 1, n do sum = sum + i end return sum" end

-- One handler for each event: the later one stays.
local first, second = 0, 0
local function one() first = first + 1 end
local function two() second = second + 1 end
jit.attach(one, "trace")
jit.attach(two, "trace")
assert(loop(100) == 5050)
assert(first == 0 and second == 2)

-- Taken away, from all events.
jit.attach(two, "bc")
fresh()
assert(second == 3)
jit.attach(one)
fresh()
assert(second == 4, "another function was taken away")
jit.attach(two)
fresh()(100)
assert(first == 0 and second == 4)

-- Names that nobody knows are accepted, numbers are names; the first argument is a function.
jit.attach(one, "no such event")
jit.attach(one, 1)
jit.attach(one)
assert(select("#", jit.attach(one)) == 0)
local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:gsub("^[^:]*:%d+: ", "") == text, message)
end
fails("bad argument #1 to 'attach' (function expected, got table)", function() jit.attach({}, "trace") end)
fails("bad argument #1 to 'attach' (function expected, got no value)", function() jit.attach() end)

-- A handler runs anything: it allocates, collects, catches errors, loads, compiles nothing, and is told nothing.
local kept, depth = {}, 0
local function busy(...)
  assert(depth == 0, "an event in a handler")
  depth = 1
  local text = {}
  for i = 1, select("#", ...) do text[i] = tostring(select(i, ...)) end
  kept[#kept + 1] = table.concat(text, " "):gsub("0x%x+", "?")
  assert(loop(300) == 45150 and fresh()(300) == 45150)
  assert(not pcall(error, "inside"))
  local t = setmetatable({}, { __index = function(_, k) return k .. "!" end })
  assert(t.x == "x!" and string.format("%5.2f|%s", 1.5, "y") == " 1.50|y")
  local co = coroutine.wrap(function(x) local y = coroutine.yield(x) return y end)
  assert(co(1) == 1 and co(2) == 2)
  collectgarbage()
  depth = 0
end
for _, event in ipairs { "trace", "record", "texit", "bc" } do jit.attach(busy, event) end
local function work(list)
  local sum, text = 0, ""
  for i = 1, #list do
    local v = list[i]
    if type(v) == "string" then text = text .. v else sum = sum + v end
  end
  return sum, text
end
local list = {}
for i = 1, 400 do list[i] = i % 5 == 0 and "s" or i % 3 == 0 and i + 0.5 or i end
for _ = 1, 3 do
  local sum, text = work(list)
  assert(sum == 64053.5 or error(sum))
  assert(text == ("s"):rep(80))
end
jit.attach(busy)
assert(#kept > 20 and depth == 0)

-- A handler that throws everything away, switches the compiler, or takes itself away.
local function check()
  for _ = 1, 3 do
    local sum, text = work(list)
    assert(sum == 64053.5 and #text == 80)
  end
end
for _, event in ipairs { "trace", "record", "texit" } do
  for _, action in ipairs {
    function() jit.flush() end,
    function() jit.flush(1) end,
    function() jit.off() jit.on() end,
    function() jit.off(work) jit.on(work) end,
    function() jit.opt.start("hotloop=5", "hotexit=2") end,
    function() jit.opt.start(1) jit.opt.start(3) end,
  } do
    jit.flush()
    jit.attach(action, event)
    check()
    jit.attach(action)
  end
end
local times = 0
local function once()
  times = times + 1
  jit.attach(once)
end
jit.attach(once, "trace")
fresh()(300)
assert(times == 1)

-- A handler does not yield, in whatever coroutine it is called.
for _, event in ipairs { "trace", "record", "texit", "bc" } do
  local refused = 0
  local function yields()
    local ok, message = pcall(coroutine.yield, 1)
    assert(not ok and message == "attempt to yield across C-call boundary", message)
    refused = refused + 1
  end
  jit.flush()
  jit.attach(yields, event)
  local co = coroutine.create(function()
    fresh()(300)
    check()
    return "done"
  end)
  local ok, result = coroutine.resume(co)
  jit.attach(yields)
  assert(ok and result == "done" and refused > 0, event .. " " .. tostring(result) .. " " .. refused)
end

-- A handler that runs into a loop that is about to be compiled, or is compiled.
for _, event in ipairs { "trace", "record", "texit" } do
  -- Recordings of it may have failed for good above.
  jit.on(work)
  local inside = 0
  local function recurses()
    inside = inside + 1
    local sum, text = work(list)
    assert(sum == 64053.5 and #text == 80)
  end
  jit.flush()
  jit.attach(recurses, event)
  check()
  jit.attach(recurses)
  assert(inside > 0, event)
end

-- Attached while compiled code runs, of traces made before: told of from then on.
do
  local told = 0
  local function on_exit(tr, exit, general, floating)
    assert(util.traceinfo(tr) and exit < util.traceinfo(tr).nexit and general == 0 and floating == 0)
    told = told + 1
  end
  local function attach(i) if i == 300 then jit.attach(on_exit, "texit") end end
  jit.off(attach)
  local function run(n, f)
    local sum = 0
    for i = 1, n do
      f(i)
      sum = sum + i
    end
    return sum
  end
  jit.flush()
  for _ = 1, 30 do run(200, function() end) end
  run(200, attach)
  assert(told == 0)
  assert(run(2000, attach) == 2001000)
  jit.attach(on_exit)
  assert(told > 0, "exits of traces that were made before")
end

-- An error that is being handled is not disturbed.
local function failing(n)
  for i = 1, n do
    if i == n then error { at = i } end
  end
end
jit.attach(busy, "trace")
jit.attach(busy, "texit")
for n = 1, 120 do
  local ok, e = pcall(failing, n)
  assert(not ok and e.at == n)
end
jit.attach(busy)
-- What runs in a handler makes nothing hot; but thresholds that a handler sets hold from then on.
do
  local function short(n)
    local sum = 0
    for i = 1, n do sum = sum + i end
    return sum
  end
  jit.opt.start("hotloop=200")
  local stops, lower = 0, false
  local function on_trace(what)
    if what == "stop" then stops = stops + 1 end
    if what == "flush" then
      for _ = 1, 100 do short(30) end
      if lower then jit.opt.start("hotloop=5") end
    end
  end
  jit.attach(on_trace, "trace")
  jit.flush()
  short(30)
  assert(stops == 0, "hot by what a handler ran")
  lower = true
  jit.flush()
  short(30)
  assert(stops == 1, "not what the handler asked for")
  jit.attach(on_trace)
end
local c = util.counters()
assert(c.started == c.closed + c.aborted)
print "ok"
