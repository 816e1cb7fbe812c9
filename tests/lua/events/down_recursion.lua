-- Deep recursion returns in one trace that comes back to its own start, not in a chain of traces as long as the recursion is deep.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=4", "budget=0")
local kinds, traces = {}, 0
local function on_trace(what, trace)
  if what ~= "stop" then return end
  local kind = util.traceinfo(trace).linktype
  kinds[kind], traces = (kinds[kind] or 0) + 1, traces + 1
end
jit.off(on_trace)
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
local function length(list) if not list then return 0 end local n = length(list.next) return n + 1 end
local function fill(t, n) if n == 0 then return t end fill(t, n - 1) return rawset(t, n, n) end
local list
for i = 1, 150 do list = { next = list } end
jit.off(true)
local function check(run, argument, expected)
  jit.flush()
  kinds, traces = {}, 0
  jit.attach(on_trace, "trace")
  local result
  for i = 1, 200 do result = run(argument) end
  assert(result == expected, result)
  assert(kinds["up-recursion"] == 1 and kinds["down-recursion"] == 1 and traces < 8, traces)
  -- All is compiled then: an exit at the bottom, and one at the top.
  local exits = 0
  jit.attach(on_trace)
  local function on_exit() exits = exits + 1 end
  jit.off(on_exit)
  jit.attach(on_exit, "texit")
  run(argument)
  jit.attach(on_exit)
  assert(exits < 5, exits)
end
check(sum, 150, 11325)
check(length, list, 150)
local filled = {}
check(function(n) return #fill(filled, n) end, 150, 150)
print "ok"
