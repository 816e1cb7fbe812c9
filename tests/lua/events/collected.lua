-- Traces end with the function that they start in.
local util = require("jit.util")
local counters = util.counters
jit.opt.start("hotloop=10", "hotexit=5", "budget=0")

-- A function with a loop, a side trace, an inlined function and tables among the constants of its traces.
local source = [[
  local t = {}
  local function add(a, b) return a + b end
  return function(n)
    local s = 0
    for i = 1, n do
      if i % 3 == 0 then s = add(s, 2) else s = add(s, #t) end
    end
    return s
  end
]]
local weak = setmetatable({}, { __mode = "k" })
local function make()
  local f = assert(loadstring(source))()
  weak[f] = true
  return f
end
jit.off(make)

-- The traces of a function that is dropped go with it, and what they refer to.
do
  local before, f = counters(), make()
  assert(f(300) == 200)
  local made = counters()
  assert(made.alive >= before.alive + 2, "no side trace")
  collectgarbage()
  assert(next(weak) == f and counters().alive == made.alive, "traces of a living function")
  f = nil
  collectgarbage()
  local after = counters()
  assert(next(weak) == nil, "traces keep their function")
  assert(after.alive == before.alive and after.collected == before.collected + (made.alive - before.alive))
  assert(after.mcode == before.mcode and after.flushed == before.flushed)
end

-- Their numbers, exits and code are used again: many functions one after another do not use up anything.
do
  local before = counters()
  local most = 0
  for i = 1, 1000 do
    assert(make()(100) == 66)
    if i % 50 == 0 then
      collectgarbage()
      most = math.max(most, counters().alive)
    end
  end
  collectgarbage()
  local after = counters()
  assert(after.flushed == before.flushed and after.closed - before.closed >= 100)
  assert(most < before.alive + 150 and after.alive <= before.alive + 3, after.alive)
end

-- What a trace inlines or is linked to stays as long as the function it starts in.
do
  local function caller(f, n)
    local s = 0
    for _ = 1, n do s = s + f(1) end
    return s
  end
  local callees = setmetatable({}, { __mode = "v" })
  for _, text in ipairs { "return function(n) return n + 1 end", "return function(n) for i = 1, 20 do n = n + i end return n end" } do
    local f = loadstring(text)()
    callees[#callees + 1] = f
    local one = f(1)
    assert(caller(f, 100) == 100 * one)
    f = nil
    collectgarbage()
    assert(caller(function() return 2 end, 100) == 200)
  end
  for _ = 1, 3 do
    assert(caller(loadstring("return function(n) return n * 3 end")(), 100) == 300)
    collectgarbage()
  end
end

-- A function that recurses, of which nothing is left but its own traces.
do
  local before = counters().alive
  local fib = loadstring("local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib")()
  weak[fib] = true
  assert(fib(15) == 610)
  assert(counters().alive > before)
  fib = nil
  collectgarbage()
  assert(next(weak) == nil)
end

-- Handlers that collect: the function being recorded is not dropped, nor that of the trace being left.
do
  local f = make()
  local kinds = {}
  local n = 0
  local function trace(what) kinds[what] = true collectgarbage() end
  local function texit() kinds.texit = true collectgarbage() end
  local function record() n = n + 1 if n % 7 == 0 then collectgarbage() end end
  jit.attach(trace, "trace")
  jit.attach(texit, "texit")
  jit.attach(record, "record")
  local g, h = make(), make()
  assert(g(100) == 66)
  g = nil
  assert(h(200) == 132 and f(100) == 66)
  jit.attach(trace)
  jit.attach(texit)
  jit.attach(record)
  for _, name in ipairs { "start", "stop", "texit" } do assert(kinds[name], name) end
end

-- A coroutine left in the middle of a compiled loop.
do
  local co = coroutine.wrap(loadstring("for i = 1, 100 do if i % 40 == 0 then coroutine.yield(i) end end return 'end'"))
  assert(co() == 40)
  collectgarbage()
  assert(co() == 80)
  collectgarbage()
  assert(co() == "end")
  co = nil
  collectgarbage()
end
print "ok"
