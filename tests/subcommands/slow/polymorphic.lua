-- Slow because the call in line 27 meets objects of eleven classes.
local shapes = {}
local function class(name, area)
  local c = { name = name, area = area }
  c.__index = c
  return c
end
local classes = {
  class("circle", function(s) return 3.14 * s.size * s.size end),
  class("square", function(s) return s.size * s.size end),
  class("cube", function(s) return s.size * s.size * s.size end),
  class("line", function(s) return 0 * s.size end),
  class("disc", function(s) return 3.1 * s.size * s.size end),
  class("prism", function(s) return s.size * s.size * 5 end),
  class("cone", function(s) return s.size * s.size / 3 end),
  class("ring", function(s) return s.size * 2 end),
  class("torus", function(s) return s.size * s.size * 9 end),
  class("sphere", function(s) return s.size ^ 3 * 4 end),
  class("dot", function(s) return s.size - s.size end),
}
math.randomseed(1)
for i = 1, 1000 do shapes[i] = setmetatable({ size = i }, classes[math.random(#classes)]) end

local total = 0
for round = 1, tonumber(arg[1] or 3000) do
  for i = 1, #shapes do
    total = total + shapes[i]:area()
  end
end
print(total > 0)
