-- A key that is no integer when a loop is recorded, and an integer in the next iteration: it may be an index of the array part.
pcall(jit.opt.start, "hotloop=2", "hotexit=2")
local function number(v)
  if type(v) ~= "number" then return 1 end
  return v
end
local function follow(t, n)
  local k
  for _ = 1, n do k = number(t[k]) end
  return k
end
for n = 28, 33 do io.write(tostring(follow({ 0.5, 1, 2 }, n)), " ", tostring(follow({ 2.5, 3, 1, [2.5] = 2 }, n)), " ") end
print()

-- Keys that step over the end of the array part, in both directions, and past the hash part.
local t = {}
for i = 1, 40 do t[i] = i end
for i = 50, 90, 2 do t[i] = i * 10 end
local function walk(from, to, step)
  local sum, missing = 0, 0
  for k = from, to, step do
    local v = t[k]
    if v then sum = sum + v else missing = missing + 1 end
  end
  return sum, missing
end
for _ = 1, 20 do
  walk(1, 100, 1) walk(100, 1, -1) walk(30, 60, 1) walk(60, 30, -0.5)
end
print(walk(1, 100, 1))
print(walk(100, 1, -1))
print(walk(60, 30, -0.5))

-- The array part grows over keys that were in the hash part.
local grown, found = { [9] = 9, [17] = 17, [33] = 33 }, 0
for i = 1, 64 do
  if not grown[i] then grown[i] = i end
  for k = 1, 70, 3 do if grown[k] then found = found + grown[k] end end
end
print(found, #grown)
