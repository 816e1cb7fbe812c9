-- An exit makes objects that the trace has sunk. What follows, a side trace or a few instructions of the interpreter, only reads them: nothing
-- but exits allocates in these loops. The collector must get its steps all the same.
local function is_small(f, n)
  collectgarbage()
  local before = collectgarbage("count")
  local result = f(n)
  return result, collectgarbage("count") - before < 4 * 1024
end

local function points(n)
  local sum = 0
  for i = 1, n do
    for k = 1, 3 do
      local point = {x = i, y = k, z = 1}
      if k == 2 then
        sum = sum + point.x
      else
        sum = sum + point.y - point.z
      end
    end
  end
  return sum
end

-- Here the side traces read objects of which they know only that they are tables, since another exit has led to the function.
local function lists(n)
  local function last(list, k)
    if k == 1 then return list[1] end
    return list[3]
  end
  local sum = 0
  for i = 1, n do
    for k = 1, 3 do
      local list = {i, k, 0.5}
      sum = sum + last(list, k)
      if k == 3 then sum = sum - list[2] end
    end
  end
  return sum
end

-- A string that only the exit needs.
local function texts(n)
  local sum, text = 0, ""
  for i = 1, n do
    for k = 1, 3 do
      text = "a text that is made of a number: " .. i
      if k == 2 then
        sum = sum + #text
      else
        sum = sum + 1
      end
    end
  end
  return sum
end

print(is_small(points, 1000000))
print(is_small(lists, 500000))
print(is_small(texts, 200000))
-- Without side traces the interpreter goes on after each exit.
require("jit.opt").start("maxside=0")
local without = loadstring([[
  local n = ...
  local sum = 0
  for i = 1, n do
    local point = {x = i, y = 1}
    if i % 3 == 0 then sum = sum + point.x else sum = sum + point.y end
  end
  return sum
]])
print(is_small(without, 1000000))
