-- needs: bit
-- md5: MD5 of a few known messages, then a chain of long ones, each starting with the digest before it.
-- Stresses: 32-bit additions with wrap-around, rotations, table-driven rounds, string.byte.
-- small: 1
local n = tonumber(arg and arg[1]) or 800

local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot
local rol, tobit, lshift, bswap, tohex = bit.rol, bit.tobit, bit.lshift, bit.bswap, bit.tohex

local SINES, INDEX, SHIFT = {}, {}, {}
do
  local turns = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } }
  local factor, offset = { 1, 5, 3, 7 }, { 0, 1, 5, 0 }
  for i = 0, 63 do
    local round = (i - i % 16) / 16 + 1
    SINES[i] = tobit(math.floor(math.abs(math.sin(i + 1)) * 4294967296))
    INDEX[i] = (factor[round] * i + offset[round]) % 16
    SHIFT[i] = turns[round][i % 4 + 1]
  end
end

local function load_block(message, at, words)
  for i = 0, 15 do
    local a, b, c, d = message:byte(at + i * 4, at + i * 4 + 3)
    words[i] = bor(a, lshift(b, 8), lshift(c, 16), lshift(d, 24))
  end
end

local function turn(a, b, mix, word, i)
  return tobit(b + rol(tobit(a + mix + word + SINES[i]), SHIFT[i]))
end

local function compress(state, words)
  local a, b, c, d = state[1], state[2], state[3], state[4]
  for i = 0, 15 do
    a, b, c, d = d, turn(a, b, bor(band(b, c), band(bnot(b), d)), words[i], i), b, c
  end
  for i = 16, 31 do
    a, b, c, d = d, turn(a, b, bor(band(d, b), band(bnot(d), c)), words[INDEX[i]], i), b, c
  end
  for i = 32, 47 do
    a, b, c, d = d, turn(a, b, bxor(b, c, d), words[INDEX[i]], i), b, c
  end
  for i = 48, 63 do
    a, b, c, d = d, turn(a, b, bxor(c, bor(b, bnot(d))), words[INDEX[i]], i), b, c
  end
  state[1] = tobit(state[1] + a)
  state[2] = tobit(state[2] + b)
  state[3] = tobit(state[3] + c)
  state[4] = tobit(state[4] + d)
end

local function md5(message)
  local length = #message
  local bits = length * 8
  local tail = {}
  for i = 0, 7 do tail[i + 1] = string.char(math.floor(bits / 256 ^ i) % 256) end
  message = message .. "\128" .. ("\0"):rep((55 - length) % 64) .. table.concat(tail)
  local state, words = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 }, {}
  for at = 1, #message, 64 do
    load_block(message, at, words)
    compress(state, words)
  end
  local out = {}
  for i = 1, 4 do out[i] = tohex(bswap(state[i])) end
  return table.concat(out)
end

for _, text in ipairs { "", "abc", "message digest", ("1234567890"):rep(8) } do
  print(md5(text))
end
local piece = {}
for i = 1, 64 do piece[i] = string.char(33 + i * 7 % 90) end
local text, digest = table.concat(piece):rep(1024), ""
for _ = 1, n do digest = md5(digest .. text) end
print(digest)
