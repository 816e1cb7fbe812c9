-- An inner loop, compiled with the loop over pairs around it as one function, reads the key and the value of that loop.
local values = {}
for i = 1, 20 do values[i] = i * 3 end
local function keys()
  local a, s = 0, 0
  for j in pairs(values) do
    for k = 1, 40 do a = j end
    s = s + a
  end
  return s
end
local function both(t)
  local a, s = 0, 0
  for k, v in pairs(t) do
    local i = 0
    while i < 20 do
      a = v
      i = i + 1
    end
    s = s + a * 100 + k
  end
  return s
end
local function by_next(t)
  local a, s = 0, ""
  for k, v in next, t do
    repeat a = a + 1 until a % 15 == 0
    for i = 1, 30 do a = k end
    s = a .. s
  end
  return s
end
local seen = {}
for i = 1, 20000 do
  local s = keys()
  seen[s] = (seen[s] or 0) + 1
  if i % 2 == 0 then s = both(values) seen[s] = (seen[s] or 0) + 1 end
  if i % 10 == 0 then s = by_next({ 1, 2, 3, 4, 5 }) seen[s] = (seen[s] or 0) + 1 end
end
local out = {}
for s, n in pairs(seen) do out[#out + 1] = s .. "=" .. n end
table.sort(out)
print(table.concat(out, " "))
