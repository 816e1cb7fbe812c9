-- A builtin with an effect in tail position, where the function returns to below the start of the trace: where it returns to is
-- checked in front of the effect, and the trace goes on after it.
local util, words = require "jit.util", require("jit.vmdef").traceerr
jit.opt.start("hotloop=10", "hotexit=2", "budget=0")
local aborted, links = {}, {}
local function on_trace(what, trace, _, _, code)
  if what == "abort" then aborted[#aborted + 1] = code end
  if what == "stop" then links[#links + 1] = util.traceinfo(trace).linktype end
end
jit.off(on_trace)
jit.off(true)
local function check(loop, expected)
  jit.flush()
  aborted, links = {}, {}
  jit.attach(on_trace, "trace")
  local result = loop(400)
  jit.attach(on_trace)
  assert(result == expected, tostring(result))
  for _, code in ipairs(aborted) do
    assert(not words[code]:find("NYI", 1, true), words[code])
  end
  -- The loop in the function, and a way from there back to the caller, to its next call.
  local ways = table.concat(links, " ")
  assert(ways:find("root", 1, true), ways)
end
local meta = { __index = { x = 1 } }
local function object(i)
  local t = {}
  for k = 1, 3 + i % 5 do t[k] = k end
  return setmetatable(t, meta)
end
check(function(n) local s = 0 for i = 1, n do local t = object(i) s = s + t.x + #t end return s end, 400 * 6)
local list = {}
local function append(i)
  local s = 0
  for k = 1, 3 + i % 5 do s = s + k end
  return table.insert(list, s)
end
check(function(n) for i = 1, n do append(i) end return list[n] + #list end, 6 + 400)
local set = {}
local function store(i)
  local s = 0
  for k = 1, 3 + i % 5 do s = s + k end
  return rawset(set, i, s)
end
check(function(n) local s = 0 for i = 1, n do s = s + store(i)[i] end return s end, 80 * (6 + 10 + 15 + 21 + 28))
print "ok"
