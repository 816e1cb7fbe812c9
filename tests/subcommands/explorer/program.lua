-- Something of everything that the explorer shows: a loop with a hot exit, a module, a call that a trace ends in front of, a
-- recording that is given up.
local shapes = require "shapes"
local sum = 0
for i = 1, 60 do
  if i % 3 == 0 then
    sum = sum + shapes.area(i)
  else
    sum = sum - 1
  end
end
for i = 1, 12 do
  local used = collectgarbage "count"
  sum = sum + (used > 0 and 1 or 0)
end
for i = 1, 12 do
  for j = 1, i do sum = sum - j end
end
print(sum)
