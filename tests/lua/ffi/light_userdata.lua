-- Light userdata of all 64-bit addresses. Those of more than 47 bits are not their own payloads.
local ffi, buffer = require "ffi", require "string.buffer"
-- A buffer has them as addresses of 8 bytes.
local function light(address) return buffer.decode("\5" .. ffi.string(ffi.new("uint64_t[1]", address), 8)) end
local all = {}
for i, address in ipairs{0x123ULL, 0x555555555000ULL, 0x7fffffffe000ULL, 0x200000000000ULL, 0x3fffffffffffULL, 0x800000000000ULL, 0xffff80001234ULL, 0xffffffffffffffffULL} do
  local a = light(address)
  all[i] = a
  print(i, type(a), a, a == light(address), a == light(address + 1), buffer.encode(a) == buffer.encode(light(address)))
  assert(ffi.cast("uintptr_t", a) == address and ffi.cast("char *", a) + 1 == ffi.cast("char *", address + 1))
end
-- Compiled: most are their own payloads, some are not.
local function sum(list)
  local sum = 0ULL
  for i = 1, 200 do sum = sum + ffi.cast("uintptr_t", list[i % #list + 1]) end
  return sum
end
print(sum{all[1]}, sum{all[2], all[3]}, sum(all), sum{all[7], all[1]})
local keys = {}
for i = 1, 200 do
  local key = all[i % #all + 1]
  keys[key] = (keys[key] or 0) + 1
end
for i, a in ipairs(all) do print(i, keys[a]) end
