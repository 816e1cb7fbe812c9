-- parser: numbers and words in a buffer, through a pointer to bytes.
-- Stresses: a pointer that moves, comparisons of bytes.
-- small: 2
local n = tonumber(arg and arg[1]) or 3000
local ffi = require("ffi")
local parts = {}
for i = 1, 2000 do parts[i] = i % 3 == 0 and "word" .. i or tostring(i * 17) end
local text = table.concat(parts, " ") .. " "
local words, numbers, total = 0, 0, 0
for _ = 1, n do
  local p = ffi.cast("const uint8_t *", text)
  local stop = p + #text
  while p < stop do
    local c = p[0]
    if c >= 48 and c <= 57 then
      local v = 0
      while c >= 48 and c <= 57 do
        v = v * 10 + (c - 48)
        p = p + 1
        c = p[0]
      end
      numbers = numbers + 1
      total = (total + v) % 1000000007
    elseif c == 32 then
      p = p + 1
    else
      words = words + 1
      while p[0] ~= 32 do p = p + 1 end
    end
  end
end
print(words, numbers, total)
