-- heapsort: sorting random numbers in place with a binary heap.
-- Stresses: array reads and writes at computed indices, float comparisons, unpredictable branches.
-- small: 1000
local n = tonumber(arg and arg[1]) or 1700000

local function sift(a, root, last)
  local value = a[root]
  while true do
    local child = root * 2
    if child > last then break end
    if child < last and a[child] < a[child + 1] then child = child + 1 end
    if a[child] <= value then break end
    a[root] = a[child]
    root = child
  end
  a[root] = value
end

local function heapsort(a, count)
  for root = (count - count % 2) / 2, 1, -1 do sift(a, root, count) end
  for last = count, 2, -1 do
    a[1], a[last] = a[last], a[1]
    sift(a, 1, last - 1)
  end
end

local seed = 7
local a = {}
for i = 1, n do
  seed = seed * 16807 % 2147483647
  a[i] = seed / 2147483647
end
heapsort(a, n)

local mixed = 0
for i = 1, n do
  assert(i == 1 or a[i - 1] <= a[i])
  mixed = mixed + a[i] * (i % 10)
end
print(string.format("min %.9f median %.9f max %.9f mixed %.6f", a[1], a[math.floor((n + 1) / 2)], a[n], mixed))
