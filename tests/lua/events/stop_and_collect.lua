-- A trace that calls a function which is dead by then is there until the handlers of its "stop" have returned, whatever they collect.
local util = require "jit.util"
jit.opt.start("hotloop=1", "hotexit=1")
local stopped = 0
jit.attach(function(what, tr)
  if what == "stop" then
    collectgarbage()
    assert(util.traceinfo(tr), "the trace is gone")
    stopped = stopped + 1
  end
end, "trace")
for k = 1, 50 do load("return " .. k)() end
assert(stopped > 0)
print "ok"
