-- nbody: bodies attracting each other, advanced with small time steps.
-- Stresses: float arithmetic on table fields, square roots, nested loops over a short array.
-- small: 500
local n = tonumber(arg and arg[1]) or 4000000

local sqrt = math.sqrt

local function body(mass, x, y, z, vx, vy, vz)
  return { mass = mass, x = x, y = y, z = z, vx = vx, vy = vy, vz = vz }
end

local bodies = {
  body(1000, 0, 0, 0, 0, 0, 0),
  body(1, 10, 0, 0.5, 0, 9.8, 0.1),
  body(0.5, 0, -20, 0.25, 7, 0, -0.2),
  body(3, -35, 3, -1, 0.5, -5.25, 0),
  body(0.1, 4, 50, 2, -4.4, 0.3, 0.4),
}

-- Takes the momentum of the whole system out of the first body.
local function balance()
  local px, py, pz = 0, 0, 0
  for _, b in ipairs(bodies) do
    px = px + b.vx * b.mass
    py = py + b.vy * b.mass
    pz = pz + b.vz * b.mass
  end
  local heavy = bodies[1]
  heavy.vx = heavy.vx - px / heavy.mass
  heavy.vy = heavy.vy - py / heavy.mass
  heavy.vz = heavy.vz - pz / heavy.mass
end

local function energy()
  local e = 0
  for i = 1, #bodies do
    local a = bodies[i]
    e = e + 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      e = e - a.mass * b.mass / sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return e
end

local function advance(dt)
  local count = #bodies
  for i = 1, count do
    local a = bodies[i]
    local ax, ay, az, am = a.x, a.y, a.z, a.mass
    local vx, vy, vz = a.vx, a.vy, a.vz
    for j = i + 1, count do
      local b = bodies[j]
      local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
      local d2 = dx * dx + dy * dy + dz * dz
      local pull = dt / (d2 * sqrt(d2))
      local bp = b.mass * pull
      vx = vx - dx * bp
      vy = vy - dy * bp
      vz = vz - dz * bp
      local ap = am * pull
      b.vx = b.vx + dx * ap
      b.vy = b.vy + dy * ap
      b.vz = b.vz + dz * ap
    end
    a.vx, a.vy, a.vz = vx, vy, vz
    a.x = ax + dt * vx
    a.y = ay + dt * vy
    a.z = az + dt * vz
  end
end

balance()
print(string.format("before %.9f", energy()))
for _ = 1, n do advance(0.001) end
print(string.format("after  %.9f", energy()))
