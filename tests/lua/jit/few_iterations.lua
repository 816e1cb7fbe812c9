-- Loops of few iterations each, constant or by the length of a short table, in functions and loops that are hot.
local function dot(a, b)
  local s = 0
  for k = 1, 3 do s = s + a[k] * b[k] end
  return s
end
local function add(a, b)
  local r = {}
  for k = 1, #a do r[k] = a[k] + b[k] end
  return r
end
local function mul(a, b)
  local r = {}
  for i = 1, 3 do
    local row = {}
    for j = 1, 3 do
      local s = 0
      for k = 3, 1, -1 do s = s + a[i][k] * b[k][j] end
      row[j] = s
    end
    r[i] = row
  end
  return r
end
local x, y, t = { 1, 2.5, 3 }, { 4, 5, 6.5 }, 0
local sums = { { 1, 1 }, { 1, 2, 3 }, { 2 }, {}, { 1, 2, 3, 4, 5, 6, 7 } }
for i = 1, 9000 do
  t = t + dot(x, y)
  local v = sums[i % 5 + 1]
  local w = add(v, v)
  t = t + #w + (w[1] or 0)
end
print(t)
local m = { { 1, 0, 2 }, { 0, 1, 0 }, { 1, 1, 1 } }
local n = m
for i = 1, 2000 do
  n = mul(n, m)
  if i % 9 == 0 then n = m end
end
print(n[1][1], n[2][2], n[3][3])
local count = 0
for i = 1, 9000 do
  for k = 1, 2 do
    count = count + k
    if count % 1000 == 999 then break end
  end
  for _ = 1, 0 do count = count - 1 end
end
print(count)
