-- New keys that are numbers: fractions, large ones, integers in the form of nums, -0, and NaN, which is an error.
local N = 300

local function fill(n, step, from)
  local t = {}
  for i = 1, n do t[from + i * step] = i end
  return t
end
local function show(t)
  local keys, sum, count = {}, 0, 0
  for k, v in pairs(t) do
    keys[#keys + 1] = k
    sum, count = sum + v, count + 1
  end
  table.sort(keys)
  return count, sum, keys[1], keys[#keys], #t
end
print(show(fill(N, 1, 0.5)))
print(show(fill(N, 2 ^ 40, 0)))
print(show(fill(N, 0.5, 0)))
print(show(fill(N, 0.25, -10)))
print(show(fill(N, -2 ^ 31, 5)))
print(show(fill(N, 1e300, -1e302)))

-- The same code meets integers in the form of nums, in the array part and in the hash part.
local function count(list)
  local t = {}
  for i = 1, #list do
    local k = list[i]
    t[k] = (t[k] or 0) + 1
  end
  return t
end
local halves, mixed = {}, {}
for i = 1, N do
  halves[i] = i / 2
  mixed[i] = i % 3 == 0 and i % 7 or i % 5 / 4
end
for _ = 1, 3 do
  local t = count(halves)
  print(#t, t[0.5], t[1], t[N / 2])
  t = count(mixed)
  print(t[0], t[0.25], t[1], t[-0], show(t))
end

-- NaN.
local keys = {}
for i = 1, N do keys[i] = i + 0.5 end
keys[N - 1] = 0 / 0
local ok, message = pcall(count, keys)
print(ok, message)
print(pcall(fill, N, 0 / 0, 0))

-- A table that is made only where it is needed.
local kept
local function sum(n)
  local s = 0
  for i = 1, n do
    local t = {}
    t[0.5], t[2 ^ 33], t[3.0] = i, i + 1, i + 2
    s = s + t[0.5] + t[2 ^ 33] + t[3]
    if i % 50 == 0 then kept = t end
  end
  return s
end
print(sum(N), show(kept))

-- __newindex, and rawset.
local log = 0
local proxy = setmetatable({}, {__newindex = function(t, k, v)
  log = log + k
  rawset(t, k, v)
end})
for i = 1, N do proxy[i % 20 + 0.5] = i end
print(log, show(proxy))
