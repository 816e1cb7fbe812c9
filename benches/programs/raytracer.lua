-- raytracer: spheres over a chequered floor, with shadows and mirrors.
-- Stresses: short-lived vector objects, operators through metatables, float branches, recursion.
-- small: 12
local n = tonumber(arg and arg[1]) or 1100

local sqrt, floor = math.sqrt, math.floor

local Vec = {}
Vec.__index = Vec

local function vec(x, y, z) return setmetatable({ x = x, y = y, z = z }, Vec) end

function Vec.__add(a, b) return vec(a.x + b.x, a.y + b.y, a.z + b.z) end
function Vec.__sub(a, b) return vec(a.x - b.x, a.y - b.y, a.z - b.z) end
function Vec.__mul(a, k) return vec(a.x * k, a.y * k, a.z * k) end
function Vec.__unm(a) return vec(-a.x, -a.y, -a.z) end
function Vec:dot(b) return self.x * b.x + self.y * b.y + self.z * b.z end
function Vec:unit() return self * (1 / sqrt(self:dot(self))) end

local Sphere = {}
Sphere.__index = Sphere

function Sphere.new(centre, radius, shade, mirror)
  return setmetatable({ centre = centre, square = radius * radius, shade = shade, mirror = mirror }, Sphere)
end

function Sphere:hit(from, along)
  local to = self.centre - from
  local b = to:dot(along)
  local d = b * b - to:dot(to) + self.square
  if d < 0 then return nil end
  local root = sqrt(d)
  if b - root > 1e-4 then return b - root end
  if b + root > 1e-4 then return b + root end
  return nil
end

function Sphere:normal(at) return (at - self.centre):unit() end
function Sphere:colour() return self.shade end

local Floor = {}
Floor.__index = Floor

function Floor.new(height, mirror) return setmetatable({ height = height, mirror = mirror, up = vec(0, 1, 0) }, Floor) end

function Floor:hit(from, along)
  if along.y == 0 then return nil end
  local t = (self.height - from.y) / along.y
  if t > 1e-4 and t < 200 then return t end
  return nil
end

function Floor:normal() return self.up end

function Floor:colour(at)
  if (floor(at.x) + floor(at.z)) % 2 == 0 then return 0.9 end
  return 0.25
end

local scene = { Floor.new(-1, 0.2) }
for i = 0, 7 do
  local x, z = (i % 4) * 2.2 - 3.3, 6 + floor(i / 4) * 3
  scene[#scene + 1] = Sphere.new(vec(x, 0.1 * i, z), 0.7 + 0.05 * i, 0.3 + 0.08 * i, i % 3 * 0.25)
end
local light = vec(-6, 9, -3)

local function nearest(from, along)
  local best, what
  for i = 1, #scene do
    local t = scene[i]:hit(from, along)
    if t and (not best or t < best) then best, what = t, scene[i] end
  end
  return best, what
end

local function trace(from, along, depth)
  local t, what = nearest(from, along)
  if not t then return 0.3 + 0.4 * (along.y > 0 and along.y or 0) end
  local at = from + along * t
  local normal = what:normal(at)
  local to_light = (light - at):unit()
  local lit = normal:dot(to_light)
  local shade = 0.1
  if lit > 0 and not nearest(at, to_light) then shade = shade + 0.9 * lit end
  shade = shade * what:colour(at)
  if what.mirror > 0 and depth > 0 then
    local bounced = along + -normal * (2 * along:dot(normal))
    shade = shade * (1 - what.mirror) + what.mirror * trace(at, bounced, depth - 1)
  end
  return shade
end

local eye, total, check = vec(0, 1.5, -4), 0, 0
for y = 0, n - 1 do
  for x = 0, n - 1 do
    local along = vec(2 * x / n - 1, 1 - 2 * y / n, 1.8):unit()
    local shade = trace(eye, along, 3)
    total = total + shade
    check = (check * 17 + floor(shade * 255 + 0.5)) % 1000003
  end
end
print(string.format("mean %.6f check %d", total / (n * n), check))
