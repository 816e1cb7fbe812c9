-- When sites are recorded: thresholds that are set are taken literally, watched programs get those of LuaJIT, failures double what is wanted, and
-- a trace that loses is given up. Recordings that come to the end of a loop are made again at once.
local util = require "jit.util"
local counters = util.counters
jit.off(true)

-- A loop of its own each time, with a text of its own: the same text would have the same prototype.
local loops = 0
local function loop(rounds)
  loops = loops + 1
  local f = assert(loadstring("local s, i = 0, 0 while i < " .. rounds .. " do i = i + 1 s = s + i % 2 end return s", "=loop" .. loops))
  assert(f() == math.ceil(rounds / 2))
end
local function traces_of(rounds)
  local before = counters().closed
  loop(rounds)
  return counters().closed - before
end

if arg[1] == "default" then
  -- A program that has hardly run compiles nothing,
  assert(traces_of(100) == 0)
  -- but what is really hot is compiled,
  assert(traces_of(1e7) == 1)
  -- and what is hot for a moment only need not be.
  local before = counters().closed
  for _ = 1, 4 do loop(200) end
  assert(counters().closed == before)
  jit.flush()
  jit.opt.start("hotloop=20")
elseif arg[1] == "loses" then
  -- No exit gets a side trace, so a trace that is left at once loses each time.
  jit.opt.start("maxside=0")
  local function first(t, x)
    local i = 1
    while t[i] ~= x do i = i + 1 end
    return i
  end
  local function calls(t, x, n)
    local s = 0
    for _ = 1, n do s = s + first(t, x) end
    return s
  end
  jit.off(calls)
  jit.on(first)
  local t = {}
  for i = 1, 100 do t[i] = i end
  -- Long ways through the loop pay.
  assert(calls(t, 100, 100000) == 10000000)
  assert(counters().closed >= 1 and counters().disabled == 0)
  -- Short ones do not,
  assert(calls(t, 1, 30000) == 30000)
  assert(counters().disabled >= 1, counters().disabled)
  local disabled = counters().disabled
  -- and the next one waits four times as long each time.
  for _ = 1, 10 do
    calls(t, 100, 50000)
    calls(t, 1, 30000)
  end
  assert(counters().disabled - disabled <= 6, counters().disabled)
  print "ok"
  return
elseif arg[1] == "end of loop" then
  -- A variable gets another type before the last iteration, so that a trace of the loop which begins there always comes to its end. After
  -- three of them there is a side trace, without waiting for more exits. Compiling has no limit, so that the clock decides nothing.
  jit.opt.start("budget=1000000")
  local function sum(n)
    local s = 0
    for i = 1, n do
      s = s + i
      if i == n - 1 then s = s + 0.5 end
    end
    local product = 1
    for _ = 1, n do product = product * 1.5 % 97 end
    return s, product
  end
  local function calls(rounds)
    for _ = 1, rounds do assert(sum(32) == 528.5) end
  end
  jit.off(calls)
  jit.on(sum)
  calls(2000)
  local before = counters()
  assert(before.aborted > 0 and before.disabled == 0)
  calls(100)
  assert(counters().deopt - before.deopt <= 110, counters().deopt - before.deopt)
  print "ok"
  return
end

-- Literally: the counter begins anew, from twenty rounds.
assert(traces_of(15) == 0 and traces_of(60) == 1)
for _ = 1, 50 do assert(traces_of(60) >= 1, "whatever was spent") end

-- Each failure doubles what is wanted; after ten of them there are no more.
local function never() end
jit.off(never)
local fails = assert(loadstring "local f, n = ... for i = 1, n do f(i) end")
local function aborts_of(rounds)
  local before = counters().aborted
  fails(never, rounds)
  return counters().aborted - before
end
local few, many = aborts_of(200), aborts_of(200000)
assert(few >= 2 and few <= 4, few)
assert(few + many >= 9 and few + many <= 12, many)
assert(aborts_of(200000) == 0)
print "ok"
