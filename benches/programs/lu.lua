-- lu: LU factorisation of random matrices with partial pivoting, then a solve with the factors.
-- Stresses: float rows as arrays of arrays, row swaps, triangular loop bounds.
-- small: 2
local n = tonumber(arg and arg[1]) or 700

local SIZE = 120
local abs = math.abs

local seed = 42
local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647 - 0.5
end

local function random_matrix(size)
  local m = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do row[j] = random() end
    m[i] = row
  end
  return m
end

-- Factors `a` in place; returns the row order, or nil for a singular matrix.
local function factor(a, size)
  local order = {}
  for i = 1, size do order[i] = i end
  for k = 1, size do
    local best, pivot = abs(a[k][k]), k
    for i = k + 1, size do
      local v = abs(a[i][k])
      if v > best then best, pivot = v, i end
    end
    if best == 0 then return nil end
    if pivot ~= k then
      a[k], a[pivot] = a[pivot], a[k]
      order[k], order[pivot] = order[pivot], order[k]
    end
    local top = a[k]
    local inverse = 1 / top[k]
    for i = k + 1, size do
      local row = a[i]
      local f = row[k] * inverse
      row[k] = f
      for j = k + 1, size do row[j] = row[j] - f * top[j] end
    end
  end
  return order
end

local function solve(a, order, b, size)
  local x = {}
  for i = 1, size do
    local sum, row = b[order[i]], a[i]
    for j = 1, i - 1 do sum = sum - row[j] * x[j] end
    x[i] = sum
  end
  for i = size, 1, -1 do
    local sum, row = x[i], a[i]
    for j = i + 1, size do sum = sum - row[j] * x[j] end
    x[i] = sum / row[i]
  end
  return x
end

local check, good = 0, true
for _ = 1, n do
  local a = random_matrix(SIZE)
  local b = {}
  for i = 1, SIZE do
    local sum = 0
    for j = 1, SIZE do sum = sum + a[i][j] * (j % 7) end
    b[i] = sum
  end
  local order = factor(a, SIZE)
  local x = solve(a, order, b, SIZE)
  for i = 1, SIZE do
    good = good and abs(x[i] - i % 7) < 1e-6
    check = check + i * order[i]
  end
end
print(string.format("solved %s check %d", tostring(good), check))
