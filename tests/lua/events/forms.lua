-- The interpreter gives numbers the form that compiled code gives them. Otherwise a loop in doubles that are integral would begin with an int
-- and end with a num, whenever it is recorded.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=5", "budget=0")

local function xor(n, m)
  local result, bit = 0, 1
  while n * m ~= 0 do
    local a, b = n % 2, m % 2
    result = result + (a + b) % 2 * bit
    n, m = (n - a) / 2, (m - b) / 2
    bit = bit * 2
  end
  return result + (n + m) * bit
end

-- The loop alone is compiled.
jit.off(true)
local sum = 0
for i = 1, 200 do sum = sum + xor(i * 1000, i * 3001) end
assert(sum == 54325956, sum)
local loops = 0
for trace = 1, 100 do
  local info = util.traceinfo(trace)
  if info and info.linktype == "loop" then loops = loops + 1 end
end
assert(loops > 0, "no loop was compiled")
print "ok"
