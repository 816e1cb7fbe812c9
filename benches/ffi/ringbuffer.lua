-- ringbuffer: a queue in a struct with an array.
-- Stresses: fields and elements of one struct, integers that wrap.
-- small: 1000
local n = tonumber(arg and arg[1]) or 50000000
local ffi, bit = require("ffi"), require("bit")
ffi.cdef[[ typedef struct { uint32_t head, tail; int32_t items[1024]; } ring; ]]
local band = bit.band
local r = ffi.new("ring")
local function push(q, v)
  q.items[band(q.head, 1023)] = v
  q.head = q.head + 1
end
local function pop(q)
  local v = q.items[band(q.tail, 1023)]
  q.tail = q.tail + 1
  return v
end
local sum = 0
for i = 1, 100 do push(r, i) end
for i = 1, n do
  push(r, i)
  sum = (sum + pop(r)) % 1000003
end
print(sum, r.head, r.tail)
