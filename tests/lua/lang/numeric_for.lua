-- The numeric for loop: bounds, steps, rounding, overflow, errors, and what the body may do to the variable.

local function run(first, last, step)
  local seen, count = {}, 0
  for i = first, last, step or 1 do
    count = count + 1
    if count <= 12 then seen[count] = tostring(i) end
    if count == 1000 then break end
  end
  print(first, last, step, count, table.concat(seen, " "))
end

run(1, 5)
run(5, 1)
run(5, 1, -1)
run(1, 1)
run(1, 0)
run(0, 1, 0.25)
run(1, 0, -0.125)
run(1.5, 4)
run(-3, 3, 2)
run(3, -3, -2)
run(0, 0.99999, 0.1)
run(0, 1, 0.1)
run(1, math.huge)
run(1, -math.huge)
run(-1, -math.huge, -1)
run(0 / 0, 5)
run(1, 0 / 0)
run(1, 5, 0 / 0)
run(math.huge, math.huge)
run(2147483640, 2147483647)
run(2147483645, 2147483650)
run(2147483647, 2147483647)
run(-2147483645, -2147483650, -1)
run(-2147483648, -2147483648, -1)
run(2147483640, 2147483647, 3)
run(0, 2147483647, 1073741824)
run(-2147483648, 2147483647, 1000000000)
run(2147483647, -2147483648, -2147483648)
run(4294967290, 4294967296)
run(2 ^ 53 - 4, 2 ^ 53, 1)
run(2 ^ 53 - 2, 2 ^ 53 + 3, 2)
run(-0, 0)
run(1, 2, 2147483647)
run(2147483646, 2147483647, 2147483647)
run(1e300, 1e301, 1e300)
run(1, 3, 1e-300 + 1)

-- The body's variable is its own.
local sum = 0
for i = 1, 5 do
  sum = sum + i
  i = i * 100
  sum = sum + i
end
print(sum)
local fs = {}
for i = 1, 4 do fs[i] = function() i = i + 10 return i end end
print(fs[1](), fs[1](), fs[2](), fs[4](), fs[1]())

-- Bounds are evaluated once, in order, before the loop; the loop's name is not visible in them.
local log = {}
local function see(v)
  log[#log + 1] = v
  return v
end
for i = see(1), see(3), see(1) do log[#log + 1] = "body" .. i end
print(table.concat(log, " "))
local i = 7
for i = i, i + 2 do io.write(i, " ") end
print(i)
local n = 3
for k = 1, n do
  n = 10
  io.write(k, " ")
end
print(n)

-- Nested loops, leaving both, and a return from inside.
local function find(target)
  for a = 1, 10 do
    for b = a, 10 do
      if a * b == target then return a, b end
      if b - a > 5 then break end
    end
  end
  return "none"
end
print(find(12), find(49))
print(find(97))

-- What it refuses.
print(pcall(function() for k = {}, 1 do end end))
print(pcall(function() for k = 1, nil do end end))
print(pcall(function() for k = 1, 2, print == nil do end end))
print(pcall(function() for k = nil, nil, nil do end end))
print("ok")
