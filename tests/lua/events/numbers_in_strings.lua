-- A number that `..` makes part of a string is put into its buffer: no string of the number is made, and so no memory taken.
local util, ir = require "jit.util", require "ir"
jit.opt.start("hotloop=10", "budget=0")

local numbers, strings = 0, 0
local function count(what, trace)
  if what ~= "stop" then return end
  for i = 1, util.traceinfo(trace).nins do
    local name = ir.op(trace, i)
    if name == "BUFNUM" then numbers = numbers + 1 end
    if name == "TOSTR" then strings = strings + 1 end
  end
end
jit.off(count)
jit.off(true)
jit.attach(count, "trace")

local function counted(loop)
  jit.flush()
  numbers, strings = 0, 0
  loop(100)
  return numbers > 0, strings > 0
end
local function check(loop, in_buffer, as_string)
  local n, s = counted(loop)
  assert(n == in_buffer and s == as_string, tostring(n) .. " " .. tostring(s))
end
local sink
check(function(n) for i = 1, n do sink = "x" .. i end end, true, false)
check(function(n) for i = 1, n do sink = i .. "x" .. i * 0.5 end end, true, false)
check(function(n) for i = 1, n do sink = tostring(i) .. "x" end end, true, false)
-- Needed as a string: it is one.
check(function(n) for i = 1, n do local s = tostring(i) sink = s .. "x" .. s end end, false, true)
check(function(n) for i = 1, n do sink = tostring(i) end end, false, true)
jit.opt.start("-fuse")
check(function(n) for i = 1, n do sink = "x" .. i end end, false, true)
jit.opt.start("+fuse")
jit.attach(count)

-- Each string is new: its own bytes are all that is taken.
local function bytes(loop)
  collectgarbage() collectgarbage("stop")
  local before = collectgarbage("count")
  loop(1000)
  local taken = (collectgarbage("count") - before) * 1024
  collectgarbage("restart")
  return taken
end
local function joined(from, to) for i = from, to do sink = "a number: " .. i end end
joined(1, 200)
local whole = bytes(function(n) joined(1000001, 1000000 + n) end)
assert(whole < 1000 * 64, whole)
print "ok"
