-- 64-bit integers: bit operations, text, string.buffer.
print(bit.band(1LL, 3), bit.tohex(-1LL), bit.tobit(0x1ffffffffLL), bit.bnot(0ULL), bit.lshift(1ULL, 40), bit.bswap(1LL), bit.tohex(255ULL, -4))
print(bit.rshift(-1LL, 60), bit.arshift(-16LL, 2), bit.rol(0x8000000000000001ULL, 4), bit.ror(1LL, 1), bit.lshift(1, 33LL), bit.lshift(1LL, -1))
print(bit.bor(1, 2LL, 4ULL), bit.bxor(-1, 0ULL), bit.band(-1, 0xffffffffffLL), bit.bor("1", 2LL), bit.band(2.7, -1LL), bit.tohex(5LL), bit.tohex(5LL, 2))
print(pcall(bit.band, 1LL, {}), pcall(bit.bnot), pcall(bit.bor, 1i, 2))
print(5LL & 3, 5ULL | 8, ~0LL, 1LL << 40, -1LL >> 1, -8LL ~>> 1, 1 << 3LL, 7 & -1LL, 2LL & 2^40)
print(pcall(load("return 1LL & {}")), pcall(load("return 'x' | 1LL")))
print(string.format("%d %x %5d|%-6d|%s %o %X", -1LL, 255ULL, 7LL, 8LL, 9LL, 8ULL, 0xabcULL))
print(pcall(string.format, "%g", 1LL), pcall(string.format, "%d", 1i))
print(tostring(1LL), 1LL == 1, 1LL == 1ULL, -1LL == -1ULL, 1LL < 2, -1LL < 1ULL, 3 <= 3LL, 1LL ~= 1, 1LL == nil, 1LL == "1", 1LL == {})
print(2LL + 3, 7LL / 2, -7LL / 2, -7LL % 3, 7LL % -3, 2LL ^ 10, 5 - 7LL, 5 - 7ULL, -(5LL), 1LL / 0, 1LL % 0, 2LL * 2.9)
for _, f in ipairs { function() return 1LL + {} end, function() return "1" + 1LL end, function() return 1LL < "x" end, function() return #1LL end,
  function() return (1LL).x end, function() local x = 1LL x.y = 1 end, function() return 1LL .. "x" end, function() return (1LL)() end } do
  print(pcall(f))
end
local buffer = require "string.buffer"
for _, v in ipairs { 1LL, -1LL, 0xffffffffffffffffULL, 2i } do print(buffer.decode(buffer.encode(v)), #buffer.encode(v)) end
local ffi = require "ffi"
print(pcall(buffer.encode, ffi.new("int[1]")))
local b = buffer.new():put("xyz"):putcdata(ffi.new("char[3]", "abc"), 2)
print(b)
local p, n = b:reserve(10)
p[0], p[1] = 65, 66
print(b:commit(2), n >= 10, pcall(b.commit, b, n))
local q, len = b:ref()
print(len, ffi.string(q, len), ffi.typeof(q))
print(pcall(b.putcdata, b, "x", 1), pcall(b.reserve, b), pcall(b.commit, b, -1))
