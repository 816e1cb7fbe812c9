-- life: Conway's game of life on a torus.
-- Stresses: two-dimensional tables of small integers, neighbour sums, swapping of buffers.
-- small: 4
local n = tonumber(arg and arg[1]) or 4000

local WIDTH, HEIGHT = 200, 150

local function empty()
  local board = {}
  for y = 1, HEIGHT do
    local row = {}
    for x = 1, WIDTH do row[x] = 0 end
    board[y] = row
  end
  return board
end

local function generation(from, to)
  local alive = 0
  for y = 1, HEIGHT do
    local above = from[y == 1 and HEIGHT or y - 1]
    local row = from[y]
    local below = from[y == HEIGHT and 1 or y + 1]
    local out = to[y]
    for x = 1, WIDTH do
      local l = x == 1 and WIDTH or x - 1
      local r = x == WIDTH and 1 or x + 1
      local around = above[l] + above[x] + above[r] + row[l] + row[r] + below[l] + below[x] + below[r]
      if around == 3 or (around == 2 and row[x] == 1) then
        out[x] = 1
        alive = alive + 1
      else
        out[x] = 0
      end
    end
  end
  return alive
end

local seed = 99
local board, spare = empty(), empty()
for y = 1, HEIGHT do
  for x = 1, WIDTH do
    seed = seed * 16807 % 2147483647
    board[y][x] = seed % 3 == 0 and 1 or 0
  end
end

local total = 0
for _ = 1, n do
  total = total + generation(board, spare)
  board, spare = spare, board
end

local check = 0
for y = 1, HEIGHT do
  for x = 1, WIDTH do check = (check * 2 + board[y][x]) % 1000003 end
end
print(string.format("cells %d check %d", total, check))
