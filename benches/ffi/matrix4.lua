-- matrix4: 4x4 matrices as a type with methods.
-- Stresses: arrays in structs, methods of types, inner loops over structs.
-- small: 100
local n = tonumber(arg and arg[1]) or 3000000
local ffi = require("ffi")
local matrix
local methods = {}
function methods.multiply(a, b, out)
  for i = 0, 3 do
    for j = 0, 3 do
      local s = 0
      for k = 0, 3 do s = s + a.m[i * 4 + k] * b.m[k * 4 + j] end
      out.m[i * 4 + j] = s
    end
  end
  return out
end
function methods.apply(a, x, y, z)
  local m = a.m
  return m[0] * x + m[1] * y + m[2] * z + m[3], m[4] * x + m[5] * y + m[6] * z + m[7], m[8] * x + m[9] * y + m[10] * z + m[11]
end
matrix = ffi.metatype("struct { double m[16]; }", { __index = methods })
local function rotation(angle)
  local r = matrix()
  local c, s = math.cos(angle), math.sin(angle)
  r.m[0], r.m[1], r.m[4], r.m[5], r.m[10], r.m[15] = c, -s, s, c, 1, 1
  return r
end
local turn, a, b = rotation(0.001), rotation(0), matrix()
local x, y, z = 1, 2, 3
for _ = 1, n do
  a:multiply(turn, b)
  a, b = b, a
  x, y, z = turn:apply(x, y, z)
end
print(string.format("%.6f %.6f %.6f %.6f", a.m[0], x, y, z))
