-- Stores into tables that the collector has visited already: of numbers and of objects, into small tables and into large ones, by all kinds
-- of keys. Nothing that is reachable is lost, in whichever step the collector is.
local function check(size, strings)
  local t, n = {}, 0
  for i = 1, size do
    t[i] = i
    if strings then t["key " .. i] = i end
  end
  collectgarbage()
  collectgarbage("stop")
  for round = 1, 60 do
    collectgarbage("step", 0)
    local k = 4 + round * 37 % (size - 4)
    t[k] = { "element " .. round }
    t[3] = { "third " .. round }
    t[k + 0.0] = t[k]
    t.field = { "field " .. round }
    t["key " .. k] = { "string " .. round }
    t[1] = round + 0.5
    t.number = round
    local gone = "gone " .. round
    t[gone] = nil
    t[gone] = round
    t[gone] = nil
    t["again " .. round % 3] = round % 2 == 0 and { round } or nil
    for i = 1, 20 do n = n + #{ i, "garbage " .. i } end
    assert(t[k][1] == "element " .. round and t[3][1] == "third " .. round)
    assert(t.field[1] == "field " .. round and t["key " .. k][1] == "string " .. round)
  end
  collectgarbage("restart")
  collectgarbage()
  local objects, numbers, text = 0, 0, 0
  for _, v in pairs(t) do
    if type(v) == "table" then
      objects = objects + 1
      text = text + #tostring(v[1])
    else
      numbers = numbers + 1
    end
  end
  print(size, strings, n, objects, numbers, text)
end

for _, size in ipairs { 50, 1000, 5000 } do
  check(size, false)
  check(size, true)
end
