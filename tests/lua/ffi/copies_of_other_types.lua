-- ffi.copy of bytes that were stored, through a variable index, as another type than that of its loads.
local ffi = require "ffi"
local buf, view = ffi.new("uint8_t[32]"), ffi.new("double[2]")

local function ints(j, n)
  local sum = 0
  for i = 1, n do
    local a = ffi.new("uint32_t[4]")
    a[j] = i * 259
    ffi.copy(buf, a, 6)
    sum = sum + buf[0] + buf[1] * 2 + buf[4] * 3 + buf[5]
  end
  return sum
end
print(ints(0, 200), ints(1, 200), ints(2, 200))

local function doubles(j, n)
  local sum = 0
  for i = 1, n do
    local a = ffi.new("double[2]")
    a[j] = i / 4
    ffi.copy(view, ffi.cast("char *", a), 16)
    sum = sum + view[0] + view[1] * 3
  end
  return sum
end
print(doubles(0, 200), doubles(1, 200))

local function structs(j, n)
  local sum = 0
  for i = 1, n do
    local a = ffi.new("struct { float x, y; }[2]")
    a[j].y = i
    ffi.copy(view, a[1], 8)
    sum = sum + ffi.cast("float *", view)[1]
  end
  return sum
end
print(structs(0, 200), structs(1, 200))

-- Stored as what it was before, after a store of another type.
local halves = ffi.new("uint16_t[4]")
local function again(j, n)
  local sum = 0
  for i = 1, n do
    local words = ffi.cast("uint32_t *", halves)
    local one = ffi.new("uint16_t[1]", i)
    ffi.copy(halves, one, 2)
    words[j] = i * 65537 + 1
    ffi.copy(halves, one, 2)
    sum = sum + buf[0] + words[0] % 65536
  end
  return sum
end
print(again(0, 200), again(1, 200))
