-- kept: structs that are kept in a table.
-- Stresses: allocation of cdata.
-- small: 100
local n = tonumber(arg and arg[1]) or 20000000
local ffi = require("ffi")
local point = ffi.typeof("struct { int x, y; }")
local ring = {}
for i = 1, 256 do ring[i] = point(0, 0) end
local sum = 0
for i = 1, n do
  local p = ring[i % 256 + 1]
  sum = sum + p.x - p.y
  ring[i % 256 + 1] = point(i, i % 10)
end
print(sum)
