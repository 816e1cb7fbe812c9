-- sor: successive over-relaxation of a square grid.
-- Stresses: floats in an array of arrays, five reads and one write an iteration, loop-carried values.
-- small: 2
local n = tonumber(arg and arg[1]) or 3000

local SIZE = 250
local OMEGA = 1.25

local grid = {}
for i = 1, SIZE do
  local row = {}
  for j = 1, SIZE do row[j] = ((i * 7 + j * 13) % 17) / 17 end
  grid[i] = row
end

local function relax(omega)
  local quarter, keep = omega * 0.25, 1 - omega
  for i = 2, SIZE - 1 do
    local above, row, below = grid[i - 1], grid[i], grid[i + 1]
    for j = 2, SIZE - 1 do
      row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + keep * row[j]
    end
  end
end

for _ = 1, n do relax(OMEGA) end

local sum, trace = 0, 0
for i = 1, SIZE do
  trace = trace + grid[i][i]
  for j = 1, SIZE do sum = sum + grid[i][j] end
end
print(string.format("sum %.8f trace %.8f", sum, trace))
