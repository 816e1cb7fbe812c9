-- A trace from `next` that cannot close after one iteration records another: the step of the iterator belongs to it.
local floor, type = math.floor, type
local function I(v)
  if type(v) == "number" then return floor(v) % 1000 end
  return 7
end
local function run(place, n, first, rounds)
  local sum, changing, before = 0, first, nil
  local function go()
  local t = {}
  for i = 1, n do t[i] = i end
  for round = 1, rounds do
    for i = 1, 10 do
      for k, e in pairs(t) do
        sum = (sum + I("x") * 7 + I(e)) % 1000003
      end
      t[place] = changing
      before, changing = -0.0, before
    end
  end
  end
  go()
  return sum
end
local sums = {}
for n = 1, 4 do for place = 1, n + 1 do
  jit.flush()
  sums[#sums + 1] = run(place, n, 4, 3)
end end
print(table.concat(sums, " "))
-- And past the integers.
for round = 1, 40 do
  local n = 0
  for i = 2147483630, 2147483630 + 20 - 1 do n = n + 1 end
  for i = -2147483630, -2147483630 - 20 + 1, -1 do n = n + 1 end
  if round % 10 == 0 then print(round, n) end
end
