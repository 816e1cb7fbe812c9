-- Casts to scalar types: what is read from the box are the low bytes of what was put into it.
local ffi = require "ffi"
local types = { "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double", "bool", "char" }
for _, name in ipairs(types) do
  local ct, sum = ffi.typeof(name), 0
  for i = 1, 300 do
    local v = tonumber(ffi.cast(ct, i * 7919 - 200000))
    if type(v) == "boolean" then v = v and 1 or 0 end
    sum = sum + (v or 0)
    local box = ffi.new(ct, i % 100)
    sum = sum + (tonumber(box) == true and 1 or tonumber(box) or 0)
  end
  print(name, ("%.3f"):format(sum))
end

-- Constants in the source, negative numbers, fractions.
local a = 0
for i = 1, 300 do
  a = a + tonumber(ffi.cast("int8_t", i)) + tonumber(ffi.cast("uint32_t", -i)) + tonumber(ffi.cast("int16_t", i * 1.75))
  a = a + tonumber(ffi.cast("uint8_t", -i)) + tonumber(ffi.cast("int32_t", i * 2 ^ 20))
end
print(("%.0f"):format(a))

-- Boxes that are changed, or that a pointer points to.
local changed = 0
for i = 1, 300 do
  local cell = ffi.new("int16_t[1]", i)
  cell[0] = cell[0] + 1
  local box = ffi.new("uint8_t", i)
  local bytes = ffi.cast("uint8_t *", cell)
  changed = changed + cell[0] + bytes[0] + tonumber(box) + tonumber(ffi.cast("int8_t", box))
end
print(changed)

-- A metatable that is protected.
local shown = 0
local protected, open = setmetatable({}, { __metatable = "locked" }), setmetatable({}, {})
for i = 1, 300 do
  if getmetatable(protected) == "locked" then shown = shown + 1 end
  if type(getmetatable(i % 2 == 0 and protected or open)) == "table" then shown = shown + 1 end
end
print(shown, getmetatable("").__index == string)

-- Light userdata are addresses, in loops with other values of the same place.
local function counter() local n = 0 return function() n = n + 1 return n end end
local f, g = counter(), counter()
local ids, equal, apart = { debug.upvalueid(f, 1), debug.upvalueid(g, 1) }, 0, 0
for i = 1, 300 do
  local id = ids[i % 2 + 1]
  local p = ffi.cast("char *", id)
  if ffi.cast("void *", id) == p then equal = equal + 1 end
  if p + 1 - p == 1 and ffi.cast("uintptr_t", p + i) - ffi.cast("uintptr_t", p) == i then apart = apart + 1 end
end
print(equal, apart)
