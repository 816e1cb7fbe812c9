-- A program that makes thousands of traces keeps running, with results that are right and memory that does not grow: all traces are
-- flushed when there are too many of them, or too much code.
local counters = require "jit.util".counters
jit.off(true, true)

local function run(functions, rounds)
  local before, most, code, memory = counters(), 0, 0
  for round = 1, rounds do
    for k = 1, #functions do
      assert(functions[k](60) == 1830 * k)
      local now = counters()
      most, code = math.max(most, now.alive), math.max(code, now.mcode)
    end
    collectgarbage()
    if round == 2 then memory = collectgarbage "count" end
  end
  local after = counters()
  assert(collectgarbage "count" < memory * 1.05, "memory grows")
  return after.closed - before.closed, after.flushed - before.flushed, most, code
end

-- All are kept, so that no trace goes with its function.
local functions = {}
for k = 1, 400 do
  functions[k] = assert(loadstring(("local n = ... local s = 0 for i = 1, n do s = s + i * %d end return s"):format(k)))
end
jit.opt.start("hotloop=5", "hotexit=2", "maxtrace=50")
local made, flushed, most = run(functions, 8)
assert(made > 2000 and flushed > 30 and most <= 50, made .. " " .. flushed .. " " .. most)

jit.opt.start("maxtrace=8000", "maxmcode=32")
local made, flushed, _, code = run(functions, 8)
assert(made > 1000 and flushed > 8 and code <= 32 * 1024, made .. " " .. flushed .. " " .. code)
print "ok"
