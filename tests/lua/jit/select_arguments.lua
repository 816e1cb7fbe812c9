-- select and `local a, b = ...` in functions that are called with many numbers of arguments: their loops are compiled for all numbers.
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...)) end
  return s
end
local list = {}
for i = 1, 30 do list[i] = i end
local total = 0
for round = 1, 20 do for n = 0, 30 do total = total + sum(unpack(list, 1, n)) end end
print(total)
-- After named parameters, of which some may be missing.
local function behind(a, b, ...)
  local s, n = 0, 0
  for i = 1, 6 do
    local v = select(i, ...)
    if v then s = s + v end
    n = n + select("#", ...)
  end
  return s + (a or 100) + (b or 200), n
end
local s, n = 0, 0
for round = 1, 30 do
  for k = 0, 9 do
    local x, y = behind(unpack(list, 1, k))
    s, n = s + x, n + y
  end
end
print(s, n)
-- Values of other types, nil among them; indices that are too large, negative, or strings.
local kinds = { { 1, "two", nil, {}, true }, { nil, nil }, { "a" }, { false, 2.5, print }, {} }
local sizes = { 5, 2, 1, 3, 0 }
local function types(...)
  local out = ""
  for i = 1, 6 do out = out .. type((select(i, ...))):sub(1, 1) end
  for i = 1, select("#", ...) do out = out .. type((select(-i, ...))):sub(1, 1) end
  return out
end
local seen, order = {}, {}
for round = 1, 60 do
  for k = 1, 5 do
    local t = types(unpack(kinds[k], 1, sizes[k]))
    if not seen[t] then seen[t] = true order[#order + 1] = t end
  end
end
print(table.concat(order, " "))
local function text(...)
  local s = 0
  for i = 1, 3 do s = s + select(tostring(i), ...) end
  return s
end
local t = 0
for i = 1, 200 do t = t + text(i, 2, 3, i % 2 == 0 and 4 or nil) end
print(t)
local function wrong(i, ...)
  local x
  for k = 1, 3 do x = select(i, ...) end
  return x
end
for i = 1, 100 do pcall(wrong, i % 5, 1, 2, 3) end
print(pcall(wrong, 0, 1, 2, 3))
print(pcall(wrong, -4, 1, 2, 3))
print(wrong(-1, 1, 2, 3), wrong(3, 1, 2, 3), wrong(4, 1, 2, 3))
-- The first arguments of many, or of too few.
local function first(...)
  local s = 0
  for i = 1, 3 do
    local a, b = ...
    local c = ...
    s = s + (a or 1000) + (b or 2000) + (c or 3000)
  end
  return s
end
local f = 0
for round = 1, 40 do for k = 0, 12 do f = f + first(unpack(list, 1, k)) end end
print(f)
-- `select` is replaced while the loop is hot.
local original = select
local function replaced(...)
  local s = 0
  for i = 1, 100 do
    s = s + select(1, ...)
    if i == 50 then select = function(_, x, y) return y end end
  end
  select = original
  return s
end
for k = 1, 5 do print(replaced(k, 10 * k, 7)) end
-- Results of other numbers, in a constructor, a call, a return and an assignment.
local function others(...)
  local s = 0
  for i = 1, select("#", ...) do
    local a, b = select(i, ...)
    local list = { select(i, ...) }
    s = s + a + (b or 0) + #list + math.max(select(i, ...))
  end
  return select(1, s, ...)
end
local o = 0
for round = 1, 30 do for k = 1, 9 do o = o + others(unpack(list, 1, k)) end end
print(o)
-- In coroutines, whose frames begin with the function.
local c = 0
for k = 1, 60 do
  local co = coroutine.wrap(function(...)
    for i = 1, 20 do coroutine.yield(select(i % select("#", ...) + 1, ...)) end
  end)
  c = c + co(unpack(list, 1, k % 7 + 1))
  for i = 1, 10 do c = c + co() end
end
print(c)
