-- sha256: the hash on arrays of uint32_t.
-- Stresses: bit operations on elements of arrays.
-- small: 10
local n = tonumber(arg and arg[1]) or 450000
local ffi, bit = require("ffi"), require("bit")
local band, bxor, bnot, ror, rshift, tobit = bit.band, bit.bxor, bit.bnot, bit.ror, bit.rshift, bit.tobit
local k, h, w = ffi.new("uint32_t[64]"), ffi.new("uint32_t[8]"), ffi.new("uint32_t[64]")
do
  local prime, count = 2, 0
  local function is_prime(p) for d = 2, math.floor(math.sqrt(p)) do if p % d == 0 then return false end end return true end
  while count < 64 do
    if is_prime(prime) then
      k[count] = (prime ^ (1 / 3) % 1) * 2 ^ 32
      if count < 8 then h[count] = (prime ^ 0.5 % 1) * 2 ^ 32 end
      count = count + 1
    end
    prime = prime + 1
  end
end
local function block()
  for i = 16, 63 do
    local x, y = w[i - 15], w[i - 2]
    local s0 = bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
    local s1 = bxor(ror(y, 17), ror(y, 19), rshift(y, 10))
    w[i] = tobit(w[i - 16] + s0 + w[i - 7] + s1)
  end
  local a, b, c, d, e, f, g, hh = tobit(h[0]), tobit(h[1]), tobit(h[2]), tobit(h[3]), tobit(h[4]), tobit(h[5]), tobit(h[6]), tobit(h[7])
  for i = 0, 63 do
    local s1 = bxor(ror(e, 6), ror(e, 11), ror(e, 25))
    local ch = bxor(band(e, f), band(bnot(e), g))
    local t1 = tobit(hh + s1 + ch + k[i] + w[i])
    local s0 = bxor(ror(a, 2), ror(a, 13), ror(a, 22))
    local maj = bxor(band(a, b), band(a, c), band(b, c))
    local t2 = tobit(s0 + maj)
    hh, g, f, e, d, c, b, a = g, f, e, tobit(d + t1), c, b, a, tobit(t1 + t2)
  end
  h[0] = tobit(h[0] + a); h[1] = tobit(h[1] + b); h[2] = tobit(h[2] + c); h[3] = tobit(h[3] + d)
  h[4] = tobit(h[4] + e); h[5] = tobit(h[5] + f); h[6] = tobit(h[6] + g); h[7] = tobit(h[7] + hh)
end
for i = 1, n do
  for j = 0, 15 do w[j] = i * j end
  block()
end
local out = {}
for i = 0, 7 do out[#out + 1] = bit.tohex(tonumber(h[i])) end
print(table.concat(out))
