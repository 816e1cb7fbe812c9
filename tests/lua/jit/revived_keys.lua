-- A key whose value is nil is not kept alive by its table: storing a value for it again must tell the collector, whatever the value is.
-- The collector works in small steps here, so that it has passed the table but not the key.
local function stress(n) pcall(jit.opt.start, "gcstress=" .. n) end
local dropped = {}
local function garbage() for i = 1, 3 do dropped[i] = { i } end end

-- The key is a table that only the other table refers to while it has a value.
local function tables()
  local held, weak = {}, setmetatable({}, { __mode = "v" })
  local lost = 0
  for i = 1, 4 do local key = { i } weak[i] = key held[key] = true end
  for round = 1, 3000 do
    local key = weak[round % 4 + 1]
    if key == nil then lost = lost + 1 key = { round % 4 + 1 } weak[round % 4 + 1] = key end
    held[key] = nil
    garbage()
    held[key] = true
    key = nil
    garbage()
  end
  return lost
end

-- The key is a constant of a function that is gone soon after: found by a new string of the same bytes only while it is alive.
local function constants()
  local t, lost = {}, 0
  for i = 1, 150 do
    local f = load(("local t = ... for i = 1, 8 do t.only%d = nil t.only%d = i end"):format(i, i))
    t["only" .. i] = 0
    f(t)
    f = nil
    garbage()
    if i > 20 and t["only" .. (i - 20)] ~= 8 then lost = lost + 1 end
  end
  collectgarbage()
  for i = 1, 150 do if t["only" .. i] ~= 8 then lost = lost + 1 end end
  return lost
end

-- The same by rawset.
local function raw()
  local held, lost = {}, 0
  for round = 1, 1000 do
    local name = "raw" .. round % 7
    rawset(held, name, nil)
    garbage()
    rawset(held, name, round)
    name = nil
    garbage()
    if held["raw" .. round % 7] ~= round then lost = lost + 1 end
  end
  return lost
end

for _, steps in ipairs { 100, 1000, 10000 } do
  stress(steps)
  local a, b, c = tables(), constants(), raw()
  stress(0)
  print(a, b, c)
end
