-- A place gets the first trace at once if the numeric loops around it, in callers as well, will go on for long.
local counters = require("jit.util").counters

local function loop(n)
  local s, i = 0, 0
  while i < n do s = s + i % 7 i = i + 1 end
  return s
end
local function inner(n)
  for i = 1, n do loop(40) end
end
-- As many iterations of the same loop, in calls that promise little and in one that promises much.
for _ = 1, 60 do inner(10) end
assert(counters().started == 0)
for i = 1, 1e9 do
  inner(10)
  if i == 60 then break end
end
assert(counters().closed >= 1)
print("ok")
