-- Bits of sums of ints and a loaded number, which is checked to be integral: constants of hash functions are above 2^31.
local bit = require "bit"
local tobit, bxor, rol, band = bit.tobit, bit.bxor, bit.rol, bit.band

local constants = {}
for i = 1, 64 do constants[i] = (i * i * 77777 + i * 2^26) % 2^32 end
local function hash(rounds, k)
  local a, b = 1, 2
  for r = 1, rounds do
    for j = 1, #k do a, b = b, tobit(rol(bxor(a, b), 7) + k[j]) end
  end
  return a, b
end
print(hash(40, constants))

-- A parameter, added and subtracted.
local function linear(n, d)
  local s = 0
  for i = 1, n do s = tobit(s + d) s = bxor(s, tobit(i - d)) end
  return s
end
print(linear(200, 0x9E3779B9), linear(200, -2^40), linear(200, 2^49), linear(200, 2^51 + 2))

-- Some of the numbers have a fraction, are too large, or are no numbers of any size: bits are rounded from the sum then.
local odd = {}
for i = 1, 200 do odd[i] = i * 3000000007 end
odd[120], odd[140], odd[150], odd[160], odd[170] = 0.5, 2^50 + 2^31, -2^52 - 1, 1e300, -0.0
odd[180], odd[190] = 1 / 0, 0 / 0
local function each(t)
  local list, a = {}, 5
  for r = 1, 3 do
    for i = 1, #t do
      local x = tobit(i + t[i])
      a = bxor(rol(a, 3), x)
      if i >= 118 and i % 10 == 0 and r == 3 then list[#list + 1] = x end
    end
  end
  return a, table.concat(list, " ")
end
print(each(odd))

-- Halves: the sum with an odd int and the one with an even int are rounded to different sides.
local function halves(n)
  local h, s = { 0.5, 1.5, 2.5, 4294967295.5 }, 0
  for i = 1, n do s = bxor(s * 3, tobit(i + h[i % 4 + 1])) end
  return s
end
print(halves(200))
