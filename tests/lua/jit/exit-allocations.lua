-- An exit makes objects that the trace has sunk, and the side trace after it only reads them: nothing but exits allocates in these loops. The
-- collector must get its steps all the same.
local function kilobytes(f, n)
  collectgarbage()
  local before = collectgarbage("count")
  local result = f(n)
  return result, collectgarbage("count") - before < 4 * 1024
end

print(kilobytes(function(n)
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
end, 1000000))

-- A string that only the exit needs.
print(kilobytes(function(n)
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
end, 300000))
