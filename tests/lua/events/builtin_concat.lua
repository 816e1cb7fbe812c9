-- `..` that a builtin does is called by the trace, or the trace ends in front of it: nothing is given up for it.
local util, words = require "jit.util", require("jit.vmdef").traceerr
jit.opt.start("hotloop=10", "budget=0")
local aborted, links = {}, {}
local function on_trace(what, trace, _, _, code)
  if what == "abort" then aborted[#aborted + 1] = code end
  if what == "stop" then links[util.traceinfo(trace).linktype] = true end
end
jit.off(on_trace)
jit.off(true)
local x = setmetatable({}, { __concat = rawequal })
local y = setmetatable({}, { __concat = type })
local z = setmetatable({}, { __concat = function() return y end })
local stitched = setmetatable({}, { __concat = coroutine.wrap(function() while true do coroutine.yield("c") end end) })
local function check(loop, link, expected)
  jit.flush()
  aborted, links = {}, {}
  jit.attach(on_trace, "trace")
  local result = loop(100)
  jit.attach(on_trace)
  assert(result == expected, tostring(result))
  assert(#aborted == 0, words[aborted[1]])
  assert(links[link], link)
end
-- The only call, the last one: called.
check(function(n) local s = 0 for i = 1, n do if x .. i == false then s = s + 1 end end return s end, "loop", 100)
check(function(n) local s for i = 1, n do s = y .. "a" .. i end return s end, "loop", "table")
-- More on its left: the interpreter does all of it, after a metamethod as well.
check(function(n) local s for i = 1, n do s = "a" .. i .. y .. i end return s end, "interpreter", "a100table")
check(function(n) local s for i = 1, n do s = "a" .. "b" .. z .. i end return s end, "interpreter", "astring")
-- What is not for traces.
check(function(n) local s for i = 1, n do s = stitched .. i end return s end, "interpreter", "c")
print "ok"
