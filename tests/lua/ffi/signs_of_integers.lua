-- Integers of C whose sign matters when they become wider, or numbers of Lua: an int32_t made of a number or of a uint32_t, and a uint64_t with
-- the top bit set that an int was converted to.
local ffi = require "ffi"
local int32, uint64 = ffi.typeof "int32_t", ffi.typeof "uint64_t"
local a = ffi.new "struct { int32_t i; uint32_t u; int64_t l; uint64_t ul; }"

local function widened(n)
  local sum, less, far = 0LL, 0, 0
  local buf = ffi.new "uint8_t[64]"
  local mid = ffi.cast("uint8_t *", buf) + 32
  for i = 1, n do
    sum = sum + ffi.cast(int32, i * 100000003)
    a.i = i * -2.5
    a.l = a.i
    sum = sum + a.l
    a.i = ffi.cast("uint32_t", -i)
    sum = sum + a.i
    if ffi.cast(int32, -1.5 * i) < 0 then less = less + 1 end
    far = far + tonumber(mid + ffi.cast(int32, -(i % 8) * 1.25) - mid)
  end
  return sum, less, far
end
for _ = 1, 3 do print(widened(100)) end

local function wrapped(n)
  local below, last = 0, 0
  for i = 1, n do
    local x = tonumber(ffi.cast(uint64, n / 2 - i))
    if x < 0 then below = below + 1 end
    a.ul = n / 2 - i
    last = tonumber(a.ul)
    if last < 0 then below = below + 1 end
  end
  return below, last
end
for _ = 1, 3 do print(wrapped(200)) end
local ints = ffi.new("int32_t[100]")
for i = 0, 99 do ints[i] = i == 77 and -5 or i end
local below = 0
for _ = 1, 20 do
  for i = 0, 99 do
    if tonumber(ffi.cast(uint64, ints[i])) < 0 then below = below + 1 end
  end
end
print(below)
