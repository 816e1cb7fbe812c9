-- matmul: product of two square matrices stored as arrays of arrays.
-- Stresses: the inner product loop, array bounds checks, memory traffic.
-- small: 20
local n = tonumber(arg and arg[1]) or 850

local function matrix(size, f)
  local m = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do row[j] = f(i, j) end
    m[i] = row
  end
  return m
end

local function transpose(m, size)
  return matrix(size, function(i, j) return m[j][i] end)
end

local function multiply(a, b, size)
  local columns, out = transpose(b, size), {}
  for i = 1, size do
    local arow, row = a[i], {}
    for j = 1, size do
      local bcol, sum = columns[j], 0.0
      for k = 1, size do sum = sum + arow[k] * bcol[k] end
      row[j] = sum
    end
    out[i] = row
  end
  return out
end

local scale = 1 / n
local a = matrix(n, function(i, j) return scale * (i - j) * (i + j - 1) end)
local b = matrix(n, function(i, j) return scale * (i + j) * (j - i + 0.5) end)
local c = multiply(a, b, n)

local diagonal, corners = 0, c[1][1] + c[1][n] + c[n][1] + c[n][n]
for i = 1, n do diagonal = diagonal + c[i][i] end
print(string.format("diagonal %.6e corners %.6e", diagonal, corners))
