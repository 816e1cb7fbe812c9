-- needs: bit
-- sha256: SHA-256 of a few known messages, then a chain of long ones, each starting with the digest before it.
-- Stresses: rotations and additions on many live 32-bit values, a rolling schedule in an array.
-- small: 1
local n = tonumber(arg and arg[1]) or 700

local band, bxor, bnot = bit.band, bit.bxor, bit.bnot
local bor, ror, rshift, lshift = bit.bor, bit.ror, bit.rshift, bit.lshift
local tobit, tohex = bit.tobit, bit.tohex

-- The first 32 bits of the fractional part of v.
local function fraction(v) return tobit(math.floor((v - math.floor(v)) * 4294967296)) end

local ROUND, START = {}, {}
do
  local found, candidate = 0, 2
  while found < 64 do
    local prime = true
    for d = 2, candidate - 1 do
      if d * d > candidate then break end
      if candidate % d == 0 then
        prime = false
        break
      end
    end
    if prime then
      found = found + 1
      -- A cube root by Newton's method: exact enough for 32 bits of the fraction.
      local r = candidate ^ (1 / 3)
      for _ = 1, 3 do r = r - (r * r * r - candidate) / (3 * r * r) end
      ROUND[found] = fraction(r)
      if found <= 8 then START[found] = fraction(math.sqrt(candidate)) end
    end
    candidate = candidate + 1
  end
end

local function schedule(message, at, w)
  for i = 1, 16 do
    local a, b, c, d = message:byte(at + i * 4 - 4, at + i * 4 - 1)
    w[i] = bor(lshift(a, 24), lshift(b, 16), lshift(c, 8), d)
  end
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    local s0 = bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
    local s1 = bxor(ror(y, 17), ror(y, 19), rshift(y, 10))
    w[i] = tobit(w[i - 16] + s0 + w[i - 7] + s1)
  end
end

local function compress(state, w)
  local a, b, c, d = state[1], state[2], state[3], state[4]
  local e, f, g, h = state[5], state[6], state[7], state[8]
  for i = 1, 64 do
    local s1 = bxor(ror(e, 6), ror(e, 11), ror(e, 25))
    local choice = bxor(band(e, f), band(bnot(e), g))
    local t1 = tobit(h + s1 + choice + ROUND[i] + w[i])
    local s0 = bxor(ror(a, 2), ror(a, 13), ror(a, 22))
    local majority = bxor(band(a, b), band(a, c), band(b, c))
    h, g, f, e = g, f, e, tobit(d + t1)
    d, c, b, a = c, b, a, tobit(t1 + s0 + majority)
  end
  state[1], state[2] = tobit(state[1] + a), tobit(state[2] + b)
  state[3], state[4] = tobit(state[3] + c), tobit(state[4] + d)
  state[5], state[6] = tobit(state[5] + e), tobit(state[6] + f)
  state[7], state[8] = tobit(state[7] + g), tobit(state[8] + h)
end

local function sha256(message)
  local length = #message
  local tail = {}
  for i = 7, 0, -1 do tail[8 - i] = string.char(math.floor(length * 8 / 256 ^ i) % 256) end
  message = message .. "\128" .. ("\0"):rep((55 - length) % 64) .. table.concat(tail)
  local state, w = {}, {}
  for i = 1, 8 do state[i] = START[i] end
  for at = 1, #message, 64 do
    schedule(message, at, w)
    compress(state, w)
  end
  for i = 1, 8 do state[i] = tohex(state[i]) end
  return table.concat(state)
end

for _, text in ipairs { "", "abc", ("a"):rep(200) } do print(sha256(text)) end
local text = ("The quick brown fox jumps over the lazy dog. 0123456789 ABCDEFGH"):rep(1024)
local digest = ""
for _ = 1, n do digest = sha256(digest .. text) end
print(digest)
