-- Slow because each object gets a metatable of its own in line 7.
local Point = {}
function Point.length(p) return (p.x * p.x + p.y * p.y) ^ 0.5 end

local points = {}
local function new(x, y)
  return setmetatable({ x = x, y = y }, { __index = function(_, key) return Point[key] end })
end
for i = 1, 500 do points[i] = new(i, i + 1) end

local total = 0
for round = 1, tonumber(arg[1] or 3000) do
  for i = 1, #points do
    total = total + points[i]:length()
  end
end
print(total > 0)
