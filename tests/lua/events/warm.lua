-- The first trace, with which the compiler is set up, waits until the program has run for some time: a short one is interpreted.
local counters = require("jit.util").counters

local function loop(n)
  local s, i = 0, 0
  while i < n do s = s + i % 7 i = i + 1 end
  return s
end
for _ = 1, 100 do loop(1000) end
assert(counters().started == 0)
for _ = 1, 5000 do loop(1000) end
assert(counters().closed >= 1)
print("ok")
