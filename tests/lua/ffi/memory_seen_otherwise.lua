-- Stores that are seen by strings, by pointers that are computed in other ways than by additions to pointers, and by bitfields.
local ffi = require "ffi"
local N = 600

-- A string is made between two stores to one place.
local bytes = ffi.new("uint8_t[8]", 65)
local function strings()
  local sum = 0
  for i = 1, N do
    local before = ffi.string(bytes, 4)
    bytes[0] = 65 + i % 3
    local between = ffi.string(bytes, 4)
    bytes[0] = 70
    sum = sum + before:byte() * 2 + between:byte()
  end
  return sum
end
print("strings", strings())
local function strings_of_new()
  local sum = 0
  for i = 1, N do
    local a = ffi.new("uint8_t[4]", 48 + i % 10)
    local first = ffi.string(a, 4)
    a[1] = 65
    local second = ffi.string(a, 2)
    a[1] = 66
    local third = ffi.string(a, 3)
    a[1] = 67
    sum = sum + first:byte(2) + second:byte(2) * 3 + third:byte(2) * 5
  end
  return sum
end
print("strings of new", strings_of_new())

-- Another pointer into something new.
local ways = {
  { "ptr + n", function(p, k) return p + k end },
  { "ptr - n", function(p, k) return p - -k end },
  { "end - n", function(p, k) return (p + 8) - (8 - k) end },
  { "char -", function(p, k) return ffi.cast("int *", ffi.cast("char *", p) - -4 * k) end },
  { "intptr +", function(p, k) return ffi.cast("int *", ffi.cast("intptr_t", ffi.cast("int *", p)) + 4 * k) end },
  { "intptr -", function(p, k) return ffi.cast("int *", ffi.cast("intptr_t", ffi.cast("int *", p)) - -4 * k) end },
  { "uintptr +", function(p, k) return ffi.cast("int *", ffi.cast("uintptr_t", ffi.cast("int *", p)) + 4 * k) end },
  { "n + uintptr", function(p, k) return ffi.cast("int *", 4 * k + ffi.cast("uintptr_t", ffi.cast("int *", p))) end },
}
for _, way in ipairs(ways) do
  local function f()
    local sum, other = 0, way[2]
    for i = 1, N do
      local p, k = ffi.new("int[8]"), i % 8
      local q = other(p, k)
      p[k] = 3
      q[0] = i
      sum = sum + p[k]
    end
    return sum
  end
  print(way[1], f())
end

-- Bitfields of one word in containers of two sizes.
ffi.cdef "typedef struct { uint32_t a : 7; uint16_t b : 9; uint32_t c : 16; } mixed_t;"
local fields = ffi.new("mixed_t[8]")
local at = {}
for i = 1, N do at[i] = i % 8 end
local function bitfields()
  local sum = 0
  for i = 1, N do
    local k, j = at[i], i % 8
    fields[k].a = 1
    fields[j].b = i % 512
    fields[k].a = 2
    sum = sum + fields[(i + 1) % 8].b + fields[k].a
  end
  return sum
end
print("bitfields", bitfields())

print(pcall(ffi.string, "x", -1))
