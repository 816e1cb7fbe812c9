-- utf8check: checks that text is UTF-8, and counts its characters.
-- Stresses: branches on bytes behind a pointer.
-- small: 3
local n = tonumber(arg and arg[1]) or 4500
local ffi, bit = require("ffi"), require("bit")
local band = bit.band
local function count(text)
  local p, len = ffi.cast("const uint8_t *", text), #text
  local i, chars = 0, 0
  while i < len do
    local c = p[i]
    local more
    if c < 0x80 then more = 0
    elseif c >= 0xc2 and c < 0xe0 then more = 1
    elseif band(c, 0xf0) == 0xe0 then more = 2
    elseif c >= 0xf0 and c < 0xf5 then more = 3
    else return nil, i end
    if i + more >= len then return nil, i end
    for j = 1, more do
      if band(p[i + j], 0xc0) ~= 0x80 then return nil, i end
    end
    i = i + more + 1
    chars = chars + 1
  end
  return chars
end
local parts = {}
for i = 1, 2000 do
  parts[i] = i % 7 == 0 and "\xc3\xa9t\xc3\xa9" or i % 11 == 0 and "\xe2\x82\xac" or i % 13 == 0 and "\xf0\x9f\x98\x80" or "word "
end
local text = table.concat(parts)
local bad = text .. "\xff" .. text
local total = 0
for _ = 1, n do
  total = total + count(text)
  local ok, at = count(bad)
  total = total + (ok or at)
end
print(total)
