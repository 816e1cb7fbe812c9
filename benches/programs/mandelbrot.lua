-- mandelbrot: escape times of the Mandelbrot set on an n by n grid.
-- Stresses: a float loop that lives in registers, with a data-dependent exit.
-- small: 24
local n = tonumber(arg and arg[1]) or 2800

local LIMIT = 100

local function escape(cr, ci)
  local zr, zi, steps = 0.0, 0.0, 0
  local rr, ii = 0.0, 0.0
  while steps < LIMIT and rr + ii <= 4.0 do
    zi = 2.0 * zr * zi + ci
    zr = rr - ii + cr
    rr, ii = zr * zr, zi * zi
    steps = steps + 1
  end
  return steps
end

local inside, total, check = 0, 0, 0
for y = 0, n - 1 do
  local ci = 2.4 * y / n - 1.2
  local row = 0
  for x = 0, n - 1 do
    local steps = escape(3.0 * x / n - 2.1, ci)
    if steps == LIMIT then inside = inside + 1 end
    row = row + steps
  end
  total = total + row
  check = (check * 31 + row) % 1000003
end
print(string.format("inside %d total %d check %d", inside, total, check))
