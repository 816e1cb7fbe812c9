-- bitset: sets of numbers in words of 64 bits.
-- Stresses: 64-bit shifts and masks, counting bits.
-- small: 3
local n = tonumber(arg and arg[1]) or 40000
local ffi, bit = require("ffi"), require("bit")
local band, bor, bnot, lshift, rshift = bit.band, bit.bor, bit.bnot, bit.lshift, bit.rshift
local set = ffi.metatype("struct { uint64_t words[64]; }", {
  __index = {
    add = function(s, i) local w = rshift(i, 6); s.words[w] = bor(s.words[w], lshift(1ULL, band(i, 63))) end,
    remove = function(s, i) local w = rshift(i, 6); s.words[w] = band(s.words[w], bnot(lshift(1ULL, band(i, 63)))) end,
    has = function(s, i) return band(rshift(s.words[rshift(i, 6)], band(i, 63)), 1) ~= 0 end,
    count = function(s)
      local c = 0ULL
      for w = 0, 63 do
        local x = s.words[w]
        x = x - band(rshift(x, 1), 0x5555555555555555ULL)
        x = band(x, 0x3333333333333333ULL) + band(rshift(x, 2), 0x3333333333333333ULL)
        x = band(x + rshift(x, 4), 0x0f0f0f0f0f0f0f0fULL)
        c = c + rshift(x * 0x0101010101010101ULL, 56)
      end
      return tonumber(c)
    end,
    union = function(s, o) for w = 0, 63 do s.words[w] = bor(s.words[w], o.words[w]) end end,
  },
})
local a, b = set(), set()
local total = 0
for round = 1, n do
  for i = 0, 4095, 3 do a:add(i) end
  for i = 0, 4095, 5 do b:add((i + round) % 4096) end
  a:union(b)
  local hits = 0
  for i = 0, 4095 do if a:has(i) then hits = hits + 1 end end
  total = total + a:count() + hits
  for i = 0, 4095, 7 do a:remove(i) end
end
print(total)
