-- A loop that is left at once each time it is entered does not pay for entering it: its trace is taken out of use, for good if
-- it does not get much hotter.
local counters = require("jit.util").counters

local function first(t, x)
  local i = 1
  while t[i] ~= x do i = i + 1 end
  return i
end
local function calls(t, x, n)
  local s = 0
  for _ = 1, n do s = s + first(t, x) end
  return s
end
-- What is measured is the trace of the loop by itself.
jit.off(calls)
jit.opt.start("hotexit=60000", "hotloop=60")

local t = {}
for i = 1, 100 do t[i] = i end
jit.off(first)
jit.on(first)
assert(calls(t, 100, 80000) == 8000000)
assert(counters().closed >= 1 and counters().retired == 0)
-- Long ways through it pay.
assert(calls(t, 100, 5000) == 500000)
assert(counters().retired == 0)
-- Short ones do not.
assert(calls(t, 2, 20000) == 40000)
assert(counters().retired >= 1, counters().retired)
assert(calls(t, 2, 1000) == 2000)
-- What may be compiled then is the whole function, not the loop.
local util, names = require "jit.util", require("jit.vmdef").bcnames
for pc = 1, util.funcinfo(first).bytecodes - 1 do
  local op = util.funcbc(first, pc) % 256
  assert(names:sub(op * 6 + 1, op * 6 + 6) ~= "JLOOP ", pc)
end
print("ok")
