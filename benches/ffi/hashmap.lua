-- hashmap: open addressing with keys and values of 64 bits.
-- Stresses: structs of int64_t, comparisons of 64 bits.
-- small: 100
local n = tonumber(arg and arg[1]) or 30000000
local ffi, bit = require("ffi"), require("bit")
ffi.cdef[[ typedef struct { uint64_t key; int64_t value; } entry; ]]
local size = 65536
local map = ffi.new("entry[?]", size)
local function slot(key)
  local i = tonumber(bit.band(key * 0x9E3779B97F4A7C15ULL, 65535ULL))
  while map[i].key ~= 0 and map[i].key ~= key do i = bit.band(i + 1, 65535) end
  return map[i]
end
for i = 1, n do
  local e = slot(i % 20000 + 1ULL)
  e.key = i % 20000 + 1
  e.value = e.value + i
end
print(slot(1ULL).value, slot(777ULL).value)
