-- The first trace, with which the compiler is set up, waits for a place that is hotter than the next one must be.
local counters = require("jit.util").counters

local function loop(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
for _ = 1, 15 do loop(1000) end
assert(counters().closed == 0)
for _ = 1, 15 do loop(1000) end
assert(counters().closed >= 1)
print("ok")
