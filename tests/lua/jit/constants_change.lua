-- What compiled code takes for a constant may change all the same: metatables of primitive types, and variables that their function
-- never assigns to.
local function twice(f, change)
  local before = f(200)
  change()
  return before, f(200), f(200)
end

local s = "abc"
print(twice(function(n)
  local c = 0
  for i = 1, n do if s.foo then c = c + 1 end end
  return c
end, function() debug.setmetatable("", { __index = function() return 1 end }) end))
debug.setmetatable("", { __index = string })

debug.setmetatable(0, { __index = { x = 5 }, __call = function(a, b) return a + b end })
print(twice(function(n)
  local c = 0
  for i = 1, n do c = c + i.x + (5)(i) end
  return c
end, function() debug.setmetatable(0, { __index = { x = 6 }, __call = function(a, b) return 1 end }) end))
debug.setmetatable(0, nil)

print(twice(function(n)
  local c
  for i = 1, n do c = tostring(i) end
  return c
end, function() debug.setmetatable(0, { __tostring = function() return "number" end }) end))
print(1, 2.5)
debug.setmetatable(0, nil)

print(twice(function(n)
  local c = 0
  for i = 1, n do if pcall(function() return nil + 1 end) then c = c + 1 end end
  return c
end, function() debug.setmetatable(nil, { __add = function() return 1 end }) end))
debug.setmetatable(nil, nil)

-- debug.setupvalue, upvaluejoin, setlocal
local function counter(step)
  return function(n)
    local c = 0
    for i = 1, n do c = c + step end
    return c
  end
end
local f = counter(1)
print(twice(f, function() assert(debug.setupvalue(f, 1, 10) == "step") end))
local g = counter(1)
print(twice(g, function() debug.upvaluejoin(g, 1, counter(3), 1) end))

do
  local step = 1
  local function h(n)
    local c = 0
    for i = 1, n do c = c + step end
    return c
  end
  local function change()
    for i = 1, 100 do
      local name = debug.getlocal(2, i)
      if name == "step" then debug.setlocal(2, i, 7) return end
    end
  end
  local before = h(200)
  change()
  print(before, h(200), h(200))
end
