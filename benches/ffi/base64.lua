-- base64: bytes to text and back.
-- Stresses: bytes, a table of characters, shifts.
-- small: 3
local n = tonumber(arg and arg[1]) or 24000
local ffi, bit = require("ffi"), require("bit")
local band, bor, lshift, rshift = bit.band, bit.bor, bit.lshift, bit.rshift
local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local to = ffi.new("uint8_t[65]", alphabet)
local from = ffi.new("uint8_t[256]")
for i = 0, 63 do from[to[i]] = i end
local function encode(text)
  local len = #text
  local src = ffi.cast("const uint8_t *", text)
  local out = ffi.new("uint8_t[?]", math.ceil(len / 3) * 4)
  local o = 0
  for i = 0, len - 3, 3 do
    local v = bor(lshift(src[i], 16), lshift(src[i + 1], 8), src[i + 2])
    out[o], out[o + 1] = to[rshift(v, 18)], to[band(rshift(v, 12), 63)]
    out[o + 2], out[o + 3] = to[band(rshift(v, 6), 63)], to[band(v, 63)]
    o = o + 4
  end
  local rest = len % 3
  if rest > 0 then
    local v = bor(lshift(src[len - rest], 16), rest == 2 and lshift(src[len - 1], 8) or 0)
    out[o], out[o + 1] = to[rshift(v, 18)], to[band(rshift(v, 12), 63)]
    out[o + 2] = rest == 2 and to[band(rshift(v, 6), 63)] or 61
    out[o + 3] = 61
    o = o + 4
  end
  return ffi.string(out, o)
end
local function decode(text)
  local len = #text
  local src = ffi.cast("const uint8_t *", text)
  local out = ffi.new("uint8_t[?]", len)
  local o = 0
  for i = 0, len - 4, 4 do
    local v = bor(lshift(from[src[i]], 18), lshift(from[src[i + 1]], 12), lshift(from[src[i + 2]], 6), from[src[i + 3]])
    out[o], out[o + 1], out[o + 2] = rshift(v, 16), band(rshift(v, 8), 255), band(v, 255)
    o = o + 3
  end
  if src[len - 1] == 61 then o = o - 1 end
  if src[len - 2] == 61 then o = o - 1 end
  return ffi.string(out, o)
end
local text = ("The quick brown fox jumps over the lazy dog. "):rep(200)
local total = 0
for i = 1, n do
  local part = text:sub(1, #text - i % 50)
  local code = encode(part)
  if decode(code) ~= part then error("wrong") end
  total = total + #code
end
print(total, encode("Perilune"))
