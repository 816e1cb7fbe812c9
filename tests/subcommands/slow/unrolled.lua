-- Slow because the inner loop in line 8 runs a different small number of times each time.
local function sum(list, n)
  local total = 0
  for i = 1, n do
    local k = list[i]
    -- The inner loop is so short that it is unrolled into the outer one.
    local j = 0
    while j < k do
      j = j + 1
      total = total + j
    end
  end
  return total
end

math.randomseed(1)
local list = {}
for i = 1, 1000 do list[i] = math.random(0, 6) end
local total = 0
for round = 1, tonumber(arg[1] or 10000) do total = total + sum(list, #list) end
print(total > 0)
