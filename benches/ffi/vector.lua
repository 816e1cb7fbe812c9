-- vector: a type with operators, in a loop that makes many of them.
-- Stresses: structs that do not escape, metamethods of types.
-- small: 100
local n = tonumber(arg and arg[1]) or 300000000
local ffi = require("ffi")
local vec
vec = ffi.metatype("struct { double x, y; }", {
  __add = function(a, b) return vec(a.x + b.x, a.y + b.y) end,
  __mul = function(a, k) return vec(a.x * k, a.y * k) end,
  __index = { dot = function(a, b) return a.x * b.x + a.y * b.y end },
})
local sum = 0
for i = 1, n do
  local a, b = vec(i, 1), vec(2, i)
  sum = sum + (a + b * 0.5):dot(a)
end
print(string.format("%.6g", sum))
