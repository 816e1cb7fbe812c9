-- records: a sort of structs by a key, with struct assignment.
-- Stresses: copies of structs, by assignment and ffi.copy.
-- small: 2
local n = tonumber(arg and arg[1]) or 500
local ffi = require("ffi")
ffi.cdef[[ typedef struct { int32_t key; float weight; double value; uint8_t tag[8]; } record; ]]
local count = 4000
local list = ffi.new("record[?]", count)
local tmp = ffi.new("record")
local function swap(i, j)
  ffi.copy(tmp, list[i], ffi.sizeof("record"))
  list[i] = list[j]
  list[j] = tmp
end
local function sort(lo, hi)
  while lo < hi do
    local pivot = list[math.floor((lo + hi) / 2)].key
    local i, j = lo, hi
    while i <= j do
      while list[i].key < pivot do i = i + 1 end
      while list[j].key > pivot do j = j - 1 end
      if i <= j then
        swap(i, j)
        i, j = i + 1, j - 1
      end
    end
    if j - lo < hi - i then
      sort(lo, j)
      lo = i
    else
      sort(i, hi)
      hi = j
    end
  end
end
local seed, sum = 1, 0
for round = 1, n do
  for i = 0, count - 1 do
    seed = (seed * 16807) % 2147483647
    local r = list[i]
    r.key, r.weight, r.value, r.tag[i % 8] = seed % 100000, i / 2, i, i
  end
  sort(0, count - 1)
  for i = 1, count - 1 do if list[i].key < list[i - 1].key then error("not sorted") end end
  sum = sum + list[count / 2].key + list[7].value
end
print(sum)
