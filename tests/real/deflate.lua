-- LibDeflate compresses the programs' own sources at each level and takes them back.
package.path = "LibDeflate/?.lua;" .. package.path
local deflate = require("LibDeflate")
local function read(name)
  local f = assert(io.open(name, "rb"))
  local s = f:read("*a")
  f:close()
  return s
end
local texts = { "", "a", ("ab"):rep(5000), read("LibDeflate/LibDeflate.lua"):sub(1, 60000), read("serpent/src/serpent.lua") }
local random, seed = {}, 42
for i = 1, 5000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  random[i] = string.char(math.floor(seed / 65536) % 256)
end
texts[#texts + 1] = table.concat(random)
for i, text in ipairs(texts) do
  for _, level in ipairs { 0, 1, 3, 6, 9 } do
    local packed = deflate:CompressZlib(text, { level = level })
    local back, rest = deflate:DecompressZlib(packed)
    print(i, level, #text, #packed, ("%08x"):format(deflate:Adler32(packed)), back == text, rest)
  end
  local printable = deflate:EncodeForPrint(deflate:CompressDeflate(text))
  print(#printable, printable:sub(1, 60), deflate:DecompressDeflate(deflate:DecodeForPrint(printable)) == text)
end
print(deflate:DecompressZlib("garbage"), deflate:DecompressDeflate(("x"):rep(100)))
