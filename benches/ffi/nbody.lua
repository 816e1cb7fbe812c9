-- nbody: planets, as structs of doubles.
-- Stresses: doubles in structs, inner loops.
-- small: 100
local n = tonumber(arg and arg[1]) or 4000000
local ffi = require("ffi")
ffi.cdef[[ typedef struct { double x, y, z, vx, vy, vz, mass; } body; ]]
local pi, days = math.pi, 365.24
local solar = 4 * pi * pi
local data = {
  { 0, 0, 0, 0, 0, 0, solar },
  { 4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.00166007664274403694 * days, 0.00769901118419740425 * days, -0.0000690460016972063023 * days, 0.000954791938424326609 * solar },
  { 8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411101 * days, 0.00499852801234917238 * days, 0.0000230417297573763929 * days, 0.000285885980666130812 * solar },
  { 12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618 * days, 0.00237847173959480950 * days, -0.0000296589568540237556 * days, 0.0000436624404335156298 * solar },
  { 15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322 * days, 0.00162824170038242295 * days, -0.0000951592254519715870 * days, 0.0000515138902046611451 * solar },
}
local bodies = ffi.new("body[5]", data)
local px, py, pz = 0, 0, 0
for i = 0, 4 do
  local b = bodies[i]
  px = px + b.vx * b.mass; py = py + b.vy * b.mass; pz = pz + b.vz * b.mass
end
bodies[0].vx = -px / solar; bodies[0].vy = -py / solar; bodies[0].vz = -pz / solar
local function advance(dt)
  for i = 0, 4 do
    local b = bodies[i]
    for j = i + 1, 4 do
      local c = bodies[j]
      local dx, dy, dz = b.x - c.x, b.y - c.y, b.z - c.z
      local d2 = dx * dx + dy * dy + dz * dz
      local mag = dt / (d2 * math.sqrt(d2))
      b.vx = b.vx - dx * c.mass * mag; b.vy = b.vy - dy * c.mass * mag; b.vz = b.vz - dz * c.mass * mag
      c.vx = c.vx + dx * b.mass * mag; c.vy = c.vy + dy * b.mass * mag; c.vz = c.vz + dz * b.mass * mag
    end
  end
  for i = 0, 4 do
    local b = bodies[i]
    b.x = b.x + dt * b.vx; b.y = b.y + dt * b.vy; b.z = b.z + dt * b.vz
  end
end
for _ = 1, n do advance(0.01) end
print(string.format("%.9f %.9f", bodies[0].x, bodies[4].z))
