-- structs: particles that move, in an array of structs of doubles.
-- Stresses: fields of elements of an array, with doubles.
-- small: 10
local n = tonumber(arg and arg[1]) or 220000
local ffi = require("ffi")
ffi.cdef[[ typedef struct { double x, y, vx, vy; int32_t hits; } particle; ]]
local count = 1000
local ps = ffi.new("particle[?]", count)
for i = 0, count - 1 do
  ps[i].x = i; ps[i].y = count - i; ps[i].vx = (i % 7) / 10; ps[i].vy = (i % 11) / 10 - 0.5
end
for _ = 1, n do
  for i = 0, count - 1 do
    local p = ps[i]
    p.x = p.x + p.vx
    p.y = p.y + p.vy
    if p.x > 1000 or p.x < 0 then p.vx = -p.vx; p.hits = p.hits + 1 end
    if p.y > 1000 or p.y < 0 then p.vy = -p.vy; p.hits = p.hits + 1 end
  end
end
local sum, hits = 0, 0
for i = 0, count - 1 do sum = sum + ps[i].x + ps[i].y; hits = hits + ps[i].hits end
print(string.format("%.6f %d", sum, hits))
