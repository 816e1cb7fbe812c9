-- A program whose loops are all short-lived compiles some of them, until the budget is used up; without one, all.
local counters = require("jit.util").counters

local function compiled_by(from, to)
  local before = counters().closed
  for n = from, to do
    local f = assert(loadstring("local s = " .. n .. "; for i = 1, 100 do s = (s + i * 3) % 1000 end return s"))
    local s = n
    for i = 100, 1, -1 do s = s + i * 3 end
    assert(f() == s % 1000)
  end
  return counters().closed - before
end
jit.off(compiled_by)

local limited = compiled_by(1, 400)
assert(limited < 100, limited)
-- What was used up stays so,
local more = compiled_by(401, 800)
assert(more < 20, more)
-- but a loop that is really hot gets its turn.
local before, s = counters().closed, 0
for i = 1, 3e6 do s = s + i % 7 end
assert(counters().closed > before)

jit.opt.start("budget=0", "hotloop=60")
assert(compiled_by(801, 1200) >= 390)

-- All that is thrown away by the program's wish may be compiled again.
jit.opt.start("budget=5")
jit.flush()
assert(compiled_by(1201, 1210) >= 1)
print("ok")
