-- Loops that are not compiled, and the reasons that are told.
local watch = require "watch"
local util = require "jit.util"
local vmdef = require "jit.vmdef"
jit.off(true)

watch.start()

-- The first abort of a recording that starts in `f`. (Counters are shared: others may start before.)
local function reason(f)
  local from = #watch.log + 1
  f(100)
  for i = from, #watch.log do
    local start, abort = watch.log[i], watch.log[i + 1]
    if start.what == "start" and start.func == f and start.pc > 0 then
      assert(abort.what == "abort" and abort.number == start.number)
      return abort.code, abort.info, abort, start
    end
  end
  error "no start"
end

-- A bytecode: its number is told, and the place.
local LINE = watch.here(3)
local function lookups(n)
  local t, key = {}, 0 / 0
  for i = 1, n do local x = t[key] end
end
local code, info, abort, start = reason(lookups)
assert(vmdef.traceerr[code] == "NYI: bytecode %s" and code == 7)
assert(vmdef.bcnames:sub(info * 6 + 1, info * 6 + 6) == "TGETV ")
assert(abort.func == lookups and abort.line == LINE and start.func == lookups and start.line == LINE)
local word = util.funcbc(abort.func, abort.pc)
assert(word % 256 == info, "another instruction than the one told")

-- A builtin that traces do not call, where they are not stitched: the function is told.
jit.opt.start("minstitch=100000")
local function builtin(f, ...)
  local code, info, abort = reason(f)
  assert(vmdef.traceerr[code] == "NYI: unsupported variant of FastFunc %s" and code == 15)
  assert(info == ..., "another function than the one called")
  assert(abort.func == f, "not in the Lua function that called it")
end
builtin(function(n) for _ = 1, n do collectgarbage "count" end end, collectgarbage)
builtin(function(n) for _ = 1, n do loadstring "return 1" end end, loadstring)
local function yield_all(n) for i = 1, n do coroutine.yield(i) end end
jit.off(yield_all)
builtin(function(n)
  local co = coroutine.create(yield_all)
  for _ = 1, n do coroutine.resume(co, n) end
end, coroutine.resume)
-- Called by a function that is called by the loop: the place is where the builtin is called.
local function count() return collectgarbage "count", 1 end
code, info, abort, start = reason(function(n) for _ = 1, n do count() end end)
assert(code == 15 and info == collectgarbage and abort.func == count and start.func ~= count)

-- A function for which the compiler is off.
local function off() return 1 end
jit.off(off)
code, info, abort = reason(function(n) for _ = 1, n do off() end end)
assert(vmdef.traceerr[code] == "JIT compilation disabled for function" and code == 12)

-- What would raise an error.
code = reason(function(n) for _ = 1, n do pcall(function() local t; return t.x end) end end)
assert(type(code) == "number")

-- After some attempts a loop is left alone, until its function is switched on again.
local function again() for _ = 1, 100 do collectgarbage "count" end end
local function run(times)
  local from = #watch.log + 1
  for _ = 1, times do again() end
  local loops = 0
  for _, start in ipairs(watch.all("start", from)) do
    if start.func == again and start.pc > 0 then loops = loops + 1 end
  end
  return loops
end
local tried = run(5000)
assert(tried >= 5 and tried <= 15, tried)
assert(run(2500) == 0, "tried for ever")
jit.on(again)
assert(run(2500) > 0, "not tried again")

jit.opt.start("minstitch=0")

watch.finish()
assert(watch.aborts >= 10)
print "ok"
