-- vec3: rays and spheres, with vectors of three floats as values.
-- Stresses: structs of floats that do not escape, structs in structs, methods.
-- small: 2
local n = tonumber(arg and arg[1]) or 300
local ffi = require("ffi")
ffi.cdef[[
  typedef struct { float x, y, z; } vec3;
  typedef struct { vec3 center; float radius; } sphere;
]]
local vec
vec = ffi.metatype("vec3", {
  __add = function(a, b) return vec(a.x + b.x, a.y + b.y, a.z + b.z) end,
  __sub = function(a, b) return vec(a.x - b.x, a.y - b.y, a.z - b.z) end,
  __mul = function(a, k) return vec(a.x * k, a.y * k, a.z * k) end,
  __index = {
    dot = function(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end,
    unit = function(a) return a * (1 / math.sqrt(a:dot(a))) end,
  },
})
local spheres = ffi.new("sphere[4]", { { { 0, 0, 5 }, 1 }, { { 1, 1, 6 }, 1.5 }, { { -2, 0, 7 }, 1 }, { { 0, -101, 5 }, 100 } })
local light = vec(1, 2, -1):unit()
local function shade(origin, direction)
  local nearest, hit = math.huge, nil
  for i = 0, 3 do
    local s = spheres[i]
    local oc = s.center - origin
    local b = oc:dot(direction)
    local d = b * b - oc:dot(oc) + s.radius * s.radius
    if d > 0 then
      local t = b - math.sqrt(d)
      if t > 0.001 and t < nearest then nearest, hit = t, i end
    end
  end
  if not hit then return 0 end
  local p = origin + direction * nearest
  local normal = (p - spheres[hit].center):unit()
  return math.max(0, normal:dot(light))
end
local origin, sum = vec(0, 0, 0), 0
for _ = 1, n do
  for y = 0, 127 do
    for x = 0, 127 do
      sum = sum + shade(origin, vec((x - 64) / 64, (64 - y) / 64, 1):unit())
    end
  end
end
print(string.format("%.3f", sum))
