-- intern: numbers for words, by a hash table over char *.
-- Stresses: comparisons of bytes, pointers in structs, hashing with 32 bits.
-- small: 3
local n = tonumber(arg and arg[1]) or 2000
local ffi, bit = require("ffi"), require("bit")
local band, bxor, tobit = bit.band, bit.bxor, bit.tobit
ffi.cdef[[
  typedef struct { const char *text; uint32_t hash; int32_t len, id, next; } symbol;
  int memcmp(const void *a, const void *b, size_t n);
]]
local symbols = ffi.new("symbol[1024]")
local heads = ffi.new("int32_t[256]")
local count = 0
local function hash(p, len)
  local h = len
  for i = 0, len - 1 do h = tobit(bxor(h * 33, p[i])) end
  return h
end
local function intern(p, len)
  local h = hash(p, len)
  local bucket = band(h, 255)
  local i = heads[bucket]
  while i ~= 0 do
    local s = symbols[i]
    if s.len == len and tobit(s.hash) == h and ffi.C.memcmp(s.text, p, len) == 0 then return s.id end
    i = s.next
  end
  count = count + 1
  local s = symbols[count]
  s.text, s.len, s.hash, s.id, s.next = p, len, h, count, heads[bucket]
  heads[bucket] = count
  return count
end
local words = {}
for i = 1, 2000 do words[i] = "name" .. (i * 7919) % 700 end
local text = table.concat(words, " ") .. " "
local base = ffi.cast("const char *", text)
local sum = 0
for _ = 1, n do
  local start = 0
  for i = 0, #text - 1 do
    if base[i] == 32 then
      sum = (sum + intern(base + start, i - start)) % 1000003
      start = i + 1
    end
  end
end
print(count, sum)
