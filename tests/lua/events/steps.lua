-- The index of a numeric loop is not checked for overflow in the loop, whether the step is constant or not.
local ir = require "ir"
jit.opt.start("hotloop=10", "hotexit=5", "budget=0")
jit.off(true)

local function run(from, to, step)
  local s = 0.5
  for i = from, to, step do s = s + 1 end
  return s
end
local function constant(from, to)
  local s = 0.5
  for i = from, to, 3 do s = s + 1 end
  return s
end
for _, f in ipairs { run, constant } do
  jit.flush()
  assert(f(1, 3000, 3) == 1000.5)
  local trace = ir.newest()
  assert(ir.count(trace, "LOOP") == 1, "no loop was compiled")
  assert(ir.count(trace, "ADDOV", true, true) == 0, "the index is checked")
end
-- Where limit and step do not fit together, the index is checked.
jit.flush()
assert(run(2 ^ 31 - 4000, 2 ^ 31 - 2, 3) == 1333.5)
assert(ir.count(ir.newest(), "ADDOV", true, true) == 1)
print "ok"
