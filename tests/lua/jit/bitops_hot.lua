-- Bit operations in hot loops: wrap-around, signs, variable shifts, mixed with arithmetic, operands that change kind.

local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot
local lshift, rshift, arshift, rol, ror, bswap, tobit = bit.lshift, bit.rshift, bit.arshift, bit.rol, bit.ror, bit.bswap, bit.tobit

-- Random numbers by three methods.
local x = 1
for _ = 1, 2000 do
  x = bxor(x, lshift(x, 13))
  x = bxor(x, rshift(x, 17))
  x = bxor(x, lshift(x, 5))
end
print(x)
local l = 12345
for _ = 1, 2000 do l = tobit(l * 1664525 % 4294967296 + 1013904223) end
print(l)
local lfsr = 0xACE1
for _ = 1, 2000 do
  local b = band(bxor(lfsr, rshift(lfsr, 2), rshift(lfsr, 3), rshift(lfsr, 5)), 1)
  lfsr = bor(rshift(lfsr, 1), lshift(b, 15))
end
print(lfsr)

-- Shifts by variable counts, also above 31 and negative.
local acc = 0
for i = -70, 200 do acc = tobit(acc * 3 + bxor(lshift(i, i), rshift(-i, i), arshift(-i * 1000, i), rol(i, i), ror(i, i))) end
print(acc)

-- Results feed comparisons, indices, loops and floats.
local counts = {}
for i = 0, 3 do counts[i] = 0 end
for i = 1, 1000 do
  local k = band(i, 3)
  counts[k] = counts[k] + 1
  if band(i, 0x80) ~= 0 then counts[k] = counts[k] + 0.5 end
  if bnot(i) < 0 then counts[k] = counts[k] + 1000 end
  for _ = 1, band(rshift(i, 6), 3) do counts[3] = counts[3] + 1 end
end
print(counts[0], counts[1], counts[2], counts[3])

-- Sums that must be normalised: results of arithmetic outside of 32 bits go back in.
local h = 0
for i = 1, 3000 do h = bxor(h * 2, i) + lshift(1, i) end
print(h)
h = 0
for i = 1, 3000 do h = band(h + 0x7fffffff, 0xffffffff) + (h < 0 and 1 or 0) end
print(h)
local s = 0
for i = 1, 1000 do s = s + tobit(i * 2 ^ 30) + tobit(-i * 2 ^ 29 - 1) end
print(s)

-- Operands become fractions, strings, big.
local kinds = { 5, 5.4, "6", 2 ^ 32 + 7, -0.6, 2 ^ 40 + 2 ^ 31 }
local total = 0
for i = 1, 900 do
  local v = kinds[i % 6 + 1]
  total = total + band(v, 255) + bor(v, 256) + tobit(v) + rol(v, i)
end
print(total)

-- Population counts, bit reversal, Gray codes, interleaving, a sieve of bits.
local pops = 0
for i = 0, 2000 do
  local v, n = i, 0
  while v ~= 0 do
    v = band(v, v - 1)
    n = n + 1
  end
  pops = pops + n
end
print(pops)
local rev = 0
for i = 1, 600 do
  local v, r = i, 0
  for _ = 1, 16 do
    r = bor(lshift(r, 1), band(v, 1))
    v = rshift(v, 1)
  end
  rev = bxor(rev, r)
end
print(rev)
local words = {}
for i = 0, 63 do words[i] = 0 end
local function set(n) local w = rshift(n, 5) words[w] = bor(words[w], lshift(1, n)) end
local function get(n) return band(words[rshift(n, 5)], lshift(1, n)) ~= 0 end
for i = 2, 44 do if not get(i) then for j = i * i, 2047, i do set(j) end end end
local primes = 0
for i = 2, 2047 do if not get(i) then primes = primes + 1 end end
print(primes)

-- bswap, tohex, nested and n-ary calls; through locals, fields and globals.
local mix = 0
for i = 1, 500 do
  mix = bxor(mix, bswap(i), bnot(i), bor(i, 1, 2, 4), band(-1, i, 0xffff), bit.tobit(i))
  mix = mix + #bit.tohex(mix) - #bit.tohex(i, 4)
end
print(mix, bit.tohex(mix))
local lib = bit
local f = { op = bxor }
local z = 0
for i = 1, 600 do
  if i == 300 then f.op = bor end
  z = f.op(z, lib.lshift(i, i % 8))
end
print(z)
print("ok")
