-- Where several sums of one loop turn out to overflow, the loop is recorded again once: the recording that finds the first goes on and finds the
-- others as well.
local recordings = require "recordings"

local function spread(x)
  local a, b, c, d, e = x + 1, x + 2, x + 3, x + 4, x + 5
  -- Each sum is used as what it is: a sum that is not used is not checked.
  return (a > 0 and 1 or 2) + (b > 0 and 1 or 2) + (c > 0 and 1 or 2) + (d > 0 and 1 or 2) + (e > 0 and 1 or 2)
end
-- The rounds with large numbers are never those in which the loop is recorded again.
local function run(large, n)
  local total = 0
  for i = 1, n do total = total + spread(i % 3 == 0 and large or 1) end
  return total
end

recordings.start()
assert(run(1, 2000) == 10000)
assert(recordings.stops > 0, "nothing was compiled")
assert(run(2 ^ 31 - 1, 6000) == 30000)
recordings.stop()
assert(recordings.retries == 1, "recorded again " .. recordings.retries .. " times")
print "ok"
