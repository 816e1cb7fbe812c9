-- The bit library: results are signed 32-bit, arguments wrap, shift counts are taken modulo 32.

local function p(...) print(...) end
local samples = { 0, 1, -1, 2, 255, 256, 0x7fffffff, -0x80000000, 0x80000000, 0xffffffff, 0x12345678, -123456, 2 ^ 32, 2 ^ 33 + 5, -2 ^ 32 - 1, 2 ^ 40 + 3, 2 ^ 50 + 9 }

-- tobit, bnot, bswap, tohex.
for _, v in ipairs(samples) do p(v, bit.tobit(v), bit.bnot(v), bit.bswap(v), bit.tohex(v), bit.tohex(v, 4), bit.tohex(v, -8), bit.tohex(v, 1)) end
p(bit.tohex(255, 2), bit.tohex(255, -2), bit.tohex(255, 20), bit.tohex(255, -20), #bit.tohex(255, 0))

-- Binary and n-ary.
for _, a in ipairs { 0, 1, -1, 0x0f0f0f0f, 0x80000000, 12345 } do
  for _, b in ipairs { 0, -1, 0xff00ff00, 7, 0x7fffffff } do
    io.write(bit.band(a, b), " ", bit.bor(a, b), " ", bit.bxor(a, b), "; ")
  end
  p()
end
p(bit.band(255), bit.bor(256), bit.bxor(0xffffffff), bit.band(0xff, 0x3c, 0x18), bit.bor(1, 2, 4, 8), bit.bxor(1, 2, 4, 8, 15))
p(bit.band(-1, -2, -4), bit.bor(unpack { 1, 16, 256 }), bit.bxor(5, 5))

-- Shifts and rotations by 0..33, negative counts.
for _, v in ipairs { 1, -1, 0x80000000, 0x12345678 } do
  for _, n in ipairs { 0, 1, 4, 8, 16, 31, 32, 33, -1, -31 } do
    io.write(bit.lshift(v, n), " ", bit.rshift(v, n), " ", bit.arshift(v, n), " ", bit.rol(v, n), " ", bit.ror(v, n), "; ")
  end
  p()
end

-- Fractions round, strings are numbers.
p(bit.tobit(1.4), bit.tobit(1.6), bit.tobit(-1.4), bit.tobit(-1.6), bit.tobit(2.5), bit.tobit(3.5), bit.tobit("0x10"), bit.band("7", "3"))
p(bit.tobit(2 ^ 31 + 0.25), bit.tobit(-2 ^ 31 - 1), bit.tobit(2 ^ 32 - 1), bit.tobit(2 ^ 50 - 1))

-- Signs: the results compare and add as signed numbers.
p(bit.lshift(1, 31), bit.lshift(1, 31) < 0, bit.rshift(-1, 1), bit.rshift(-1, 0), bit.bnot(0) == -1, bit.tobit(0xffffffff) == -1)
p(bit.bor(0x80000000, 0), bit.band(-1, 0xffffffff), bit.bxor(0x80000000, 1), bit.tobit(0x7fffffff + 1), bit.tobit(-0x80000000 - 1))
p(bit.lshift(0x40000000, 1) + bit.lshift(0x40000000, 1), bit.band(0xf0000000, -1) * 2, -bit.tobit(0x80000000))

-- Identities over many values.
local x = 123456789
for _ = 1, 500 do
  x = bit.tobit(x * 1103 + 12345)
  local y = bit.ror(x, 7)
  assert(bit.rol(y, 7) == x and bit.bswap(bit.bswap(x)) == x and bit.bnot(bit.bnot(x)) == x)
  assert(bit.bxor(bit.bxor(x, y), y) == x and bit.band(x, y) + bit.bor(x, y) == x + y)
  assert(bit.lshift(x, 3) == bit.tobit(x * 8) and bit.arshift(x, 4) == math.floor(x / 16))
  assert(bit.rshift(x, 1) == math.floor((x % 2 ^ 32) / 2) and bit.bor(bit.lshift(x, 5), bit.rshift(x, 27)) == bit.rol(x, 5))
  assert(tonumber(bit.tohex(x), 16) % 2 ^ 32 == x % 2 ^ 32 and bit.bnot(x) == -x - 1)
end

-- Common uses: popcount, parity, gray code, packing of bytes, a small hash.
local function popcount(v)
  local n = 0
  while v ~= 0 do
    v = bit.band(v, v - 1)
    n = n + 1
  end
  return n
end
p(popcount(0), popcount(-1), popcount(0x55555555), popcount(0x80000000))
local gray = {}
for i = 0, 15 do gray[#gray + 1] = bit.bxor(i, bit.rshift(i, 1)) end
p(table.concat(gray, " "))
local function pack(a, b, c, d) return bit.bor(bit.lshift(a, 24), bit.lshift(b, 16), bit.lshift(c, 8), d) end
local function unpack4(v) return bit.rshift(v, 24), bit.band(bit.rshift(v, 16), 255), bit.band(bit.rshift(v, 8), 255), bit.band(v, 255) end
p(pack(1, 2, 3, 4), pack(255, 254, 253, 252), unpack4(pack(200, 100, 50, 25)))
local function fnv(s)
  local h = 0x811c9dc5
  for i = 1, #s do
    h = bit.bxor(h, s:byte(i))
    h = bit.tobit(h + bit.lshift(h, 1) + bit.lshift(h, 4) + bit.lshift(h, 7) + bit.lshift(h, 8) + bit.lshift(h, 24))
  end
  return bit.tohex(h)
end
p(fnv(""), fnv("a"), fnv("foobar"))
local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do c = bit.band(c, 1) == 1 and bit.bxor(bit.rshift(c, 1), 0xedb88320) or bit.rshift(c, 1) end
  crc_table[i] = c
end
local function crc32(s)
  local c = -1
  for i = 1, #s do c = bit.bxor(bit.rshift(c, 8), crc_table[bit.band(bit.bxor(c, s:byte(i)), 255)]) end
  return bit.tohex(bit.bnot(c))
end
p(crc32("123456789"), crc32(""), crc32("hello world"))
for _, bad in ipairs { {}, true, "x" } do p(pcall(bit.band, bad, 1)) end
p(pcall(bit.lshift, 1), pcall(bit.tobit), require("bit") == bit)
print("ok")
