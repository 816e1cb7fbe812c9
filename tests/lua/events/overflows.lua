-- Where several sums of one loop turn out to overflow, the loop is recorded again once: the recording that finds the first goes on and finds the
-- others as well.
local vmdef = require("jit.vmdef")

local function spread(x)
  local a, b, c, d, e = x + 1, x + 2, x + 3, x + 4, x + 5
  return a - x + (b - x) + (c - x) + (d - x) + (e - x)
end
-- The rounds with large numbers are never those in which the loop is recorded again.
local function run(large, n)
  local total = 0
  for i = 1, n do total = total + spread(i % 3 == 0 and large or 1) end
  return total
end

local retries, loops = 0, 0
local function told(what, _, _, _, code)
  if what == "abort" and vmdef.traceerr[code] == "retry recording" then
    retries = retries + 1
  elseif what == "stop" then
    loops = loops + 1
  end
end

jit.attach(told, "trace")
assert(run(1, 2000) == 30000)
assert(loops > 0, "nothing was compiled")
assert(run(2 ^ 31 - 1, 6000) == 90000)
jit.attach(told)
assert(retries == 1, "recorded again " .. retries .. " times")
print "ok"
