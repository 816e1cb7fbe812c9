-- queens: all ways to place n queens on an n by n board.
-- Stresses: recursion, backtracking, boolean arrays indexed from both sides of zero.
-- small: 6
local n = tonumber(arg and arg[1]) or 13

local columns, rising, falling = {}, {}, {}
for i = 1, n do columns[i] = false end
for i = 2, 2 * n do rising[i] = false end
for i = 1 - n, n - 1 do falling[i] = false end

local placed, solutions, check, tries = {}, 0, 0, 0

local function place(row)
  if row > n then
    solutions = solutions + 1
    for i = 1, n do check = (check * 11 + placed[i]) % 1000003 end
    return
  end
  for c = 1, n do
    tries = tries + 1
    if not columns[c] and not rising[row + c] and not falling[row - c] then
      columns[c], rising[row + c], falling[row - c] = true, true, true
      placed[row] = c
      place(row + 1)
      columns[c], rising[row + c], falling[row - c] = false, false, false
    end
  end
end

place(1)
print(string.format("solutions %d tries %d check %d", solutions, tries, check))
