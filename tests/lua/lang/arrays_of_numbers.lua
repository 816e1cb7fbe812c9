-- The collector does not read arrays of numbers again until something else is stored into them.
local N = 200
local function numbers(n)
  local t = {}
  for i = 1, n or N do t[i] = i end
  return t
end
-- Arrays that the collector has met.
local function met(n)
  local list = {}
  for i = 1, 12 do list[i] = numbers(n) end
  collectgarbage() collectgarbage()
  return list
end
-- New objects in place of those that were freed.
local function use_memory()
  local t = {}
  for i = 1, 100 do t[i] = { "new" .. i, i } end
  return t
end
local function check(name, list, value)
  collectgarbage() use_memory() collectgarbage() use_memory()
  local sum = 0
  for k = 1, #list do
    local v = value(list[k], k)
    assert(v == "text" .. k .. "x", name .. ": " .. tostring(v))
    for i = 1, 20 do sum = sum + list[k][i] end
  end
  print(name, sum)
end
local function text(k) return "text" .. k .. "x" end
local function boxed(k) return { text = text(k) } end

for _, n in ipairs { N, 3000 } do
  local list = met(n)
  for k = 1, #list do list[k][100] = boxed(k) end
  check("element", list, function(t) return t[100].text end)

  list = met(n)
  for k = 1, #list do list[k][#list[k] + 1] = text(k) end
  check("appended", list, function(t) return t[#t] end)

  list = met(n)
  for k = 1, #list do
    local t = list[k]
    for i = 1, 60 do t[i + 30] = i < 60 and i or boxed(k) end
  end
  check("in a loop", list, function(t) return t[90].text end)

  list = met(n)
  for k = 1, #list do table.insert(list[k], 50, text(k)) end
  check("inserted", list, function(t) return t[50] end)

  list = met(n)
  for k = 1, #list do list[k].name = text(k) end
  check("field", list, function(t) return t.name end)

  list = met(n)
  for k = 1, #list do list[k][{ text(k) }] = true end
  check("key", list, function(t, k) for key, v in pairs(t) do if v == true then return key[1] end end end)

  list = met(n)
  for k = 1, #list do rawset(list[k], 70, boxed(k)) end
  check("rawset", list, function(t) return rawget(t, 70).text end)

  list = met(n)
  for k = 1, #list do setmetatable(list[k], { __index = { name = text(k) } }) end
  check("metatable", list, function(t) return t.name end)

  list = met(n)
  for k = 1, #list do
    local from = { 1, 2, 3, boxed(k) }
    for i = 1, 4 do list[k][40 + i] = from[i] end
    list[k][60] = function() return text(k) end
  end
  check("several", list, function(t) return t[44].text == t[60]() and t[60]() end)

  -- Elements that are moved, and removed, and numbers again.
  list = met(n)
  for k = 1, #list do
    local t = list[k]
    t[30] = boxed(k)
    collectgarbage "step"
    t[31], t[30] = t[30], 0
    table.insert(t, 25, 1)
    if k % 3 == 0 then t[10] = boxed(k) t[10] = 10 end
  end
  check("moved", list, function(t) return t[32].text end)

  list = met(n)
  for k = 1, #list do
    local t = list[k]
    t[n] = text(k)
    local at = 0
    table.sort(t, function(a, b)
      at = at + 1
      if at % 500 == 0 then collectgarbage "step" end
      if type(a) ~= type(b) then return type(a) == "number" end
      return a < b
    end)
  end
  check("sorted", list, function(t) return t[n] end)
end

-- Stores while the collector works, step by step.
local pool, sum = {}, 0
for i = 1, 60 do pool[i] = numbers(i % 2 == 0 and 100 or 3000) end
for round = 1, 1500 do
  local t = pool[round % 60 + 1]
  local at = round % #t + 1
  if round % 7 < 3 then t[at] = { round } elseif round % 7 < 5 then t[at] = "r" .. round else t[at] = round end
  collectgarbage("step", 1)
  local v = t[(round * 7) % #t + 1]
  sum = sum + (type(v) == "table" and v[1] or type(v) == "string" and tonumber(v:sub(2)) or v)
end
for i = 1, 60 do
  for _, v in ipairs(pool[i]) do
    sum = sum + (type(v) == "table" and v[1] or type(v) == "string" and tonumber(v:sub(2)) or v)
  end
end
print(sum)
