-- The remainder of integral numbers is an integer, whichever form they have: what a loop stores of it is one, and what reads it need not ask for
-- another. Where the operands have fractions, the remainder is a double, in the same trace.
local ir, util = require "ir", require "jit.util"
jit.opt.start("hotloop=20", "hotexit=5", "budget=0")

local t = {}
local function fill(seed, step)
  for i = 1, 300 do
    seed = seed * 16807 % 2147483647
    t[i % 8 + 1] = (seed + step) % 20
  end
  local s = 0
  for i = 1, 300 do s = s + t[i % 8 + 1] end
  return s
end
local function run(step)
  jit.flush()
  jit.off(fill)
  local expected = fill(7, step)
  jit.on(fill)
  assert(fill(7, step) == expected)
  -- How many traces, and those conversions in their loops that a double needs.
  local n, checks = 0, 0
  while util.traceinfo(n + 1) do
    n = n + 1
    checks = checks + ir.count(n, "CONV", true, true)
  end
  return n, checks
end
jit.off(run)
local n, checks = run(0)
assert(n == 2 and checks == 1, ("integral: %d traces, %d checks"):format(n, checks))
n, checks = run(0.25)
assert(n <= 4 and checks == 0, ("fractions: %d traces, %d checks"):format(n, checks))
print "ok"
