-- spectralnorm: largest singular value of an infinite matrix given by a formula, by power iteration.
-- Stresses: float division and multiplication, calls of a tiny function in the innermost loop, array reads.
-- small: 30
local n = tonumber(arg and arg[1]) or 3000

local function entry(i, j)
  local s = i + j
  return 1 / (s * (s + 1) / 2 + i + 1)
end

local function times(v, out)
  for i = 0, n - 1 do
    local sum = 0
    for j = 0, n - 1 do sum = sum + entry(i, j) * v[j + 1] end
    out[i + 1] = sum
  end
end

local function times_transposed(v, out)
  for i = 0, n - 1 do
    local sum = 0
    for j = 0, n - 1 do sum = sum + entry(j, i) * v[j + 1] end
    out[i + 1] = sum
  end
end

local u, v, w = {}, {}, {}
for i = 1, n do u[i], v[i], w[i] = 1, 0, 0 end
for _ = 1, 10 do
  times(u, w)
  times_transposed(w, v)
  times(v, w)
  times_transposed(w, u)
end

local uv, vv = 0, 0
for i = 1, n do
  uv = uv + u[i] * v[i]
  vv = vv + v[i] * v[i]
end
print(string.format("%.9f", math.sqrt(uv / vv)))
