-- What follows from a number being an integer is only true while it is one: its overflow checks are kept where nothing else uses the number.
jit.opt.start("hotloop=5", "hotexit=2")
local bit = require "bit"
local function differences()
  local n = 0
  for i = 1, 70 do
    local z = i * i * i * i * i * i * i * i * i * i
    if (z + 1) - z == 1 then n = n + 1 end
  end
  return n
end
local function sums()
  local n = 0
  for i = 1, 70 do
    local z = i * i * i * i * i * i * i * i * i * i
    if (z + 1) + 1 == z + 2 then n = n + 1 end
  end
  return n
end
local function remainders()
  local n = 0
  for i = 1, 70 do
    local y = i * i * i * i * i
    local z = y * y
    if z % 8 == bit.band(z, 7) then n = n + 1 end
  end
  return n
end
local function texts()
  local n = 0
  for i = 1, 70 do
    local z = i * i * i * i * i * i * i * i * i * i
    if z - tonumber(tostring(z)) == 0 then n = n + 1 end
  end
  return n
end
local function halves()
  local n = 0
  for i = 1000, 1, -1 do
    local z = math.floor((i * -100000007) * 0.5)
    if z == bit.tobit(z) then n = n + 1 end
  end
  return n
end
for _ = 1, 4 do print(differences(), sums(), remainders(), texts(), halves()) end
