-- collatz: the longest chains of the 3n+1 problem.
-- Stresses: integer arithmetic that leaves 32 bits, modulo, an unpredictable branch, an unbounded inner loop.
-- small: 300
local n = tonumber(arg and arg[1]) or 1500000

local function chain(start)
  local steps, v = 0, start
  while v ~= 1 do
    if v % 2 == 0 then
      v = v / 2
    else
      v = 3 * v + 1
    end
    steps = steps + 1
  end
  return steps
end

local best, best_start, total, highest = 0, 1, 0, 1
for i = 1, n do
  local steps = chain(i)
  total = total + steps
  if steps > best then best, best_start = steps, i end
end
do
  local v = best_start
  while v ~= 1 do
    if v > highest then highest = v end
    v = v % 2 == 0 and v / 2 or 3 * v + 1
  end
end
print(string.format("longest %d from %d (up to %.0f), total %d", best, best_start, highest, total))
