-- NaN in hot comparisons, in both branches, in loops, as a value of tables, and in functions.

local nan = 0 / 0

-- All comparisons, with NaN arriving now and then.
local c = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
for i = 1, 1000 do
  local x = i % 10 == 0 and nan or i
  if x < 500 then c[1] = c[1] + 1 end
  if x <= 500 then c[2] = c[2] + 1 end
  if x > 500 then c[3] = c[3] + 1 end
  if x >= 500 then c[4] = c[4] + 1 end
  if x == x then c[5] = c[5] + 1 end
  if x ~= x then c[6] = c[6] + 1 end
  if not (x < 500) then c[7] = c[7] + 1 end
  if not (x <= 500) then c[8] = c[8] + 1 end
  if not (x > 500) then c[9] = c[9] + 1 end
  if not (x >= 500) then c[10] = c[10] + 1 end
  if 500 < x then c[11] = c[11] + 1 end
  if not (500 >= x) then c[12] = c[12] + 1 end
end
print(table.concat(c, " "))

-- NaN for ever after the loop was compiled.
local y, lt, ge, ne = 1, 0, 0, 0
for i = 1, 1000 do
  if i == 600 then y = y * nan end
  y = y + 1
  if y < 1e9 then lt = lt + 1 end
  if y >= 0 then ge = ge + 1 end
  if y ~= y then ne = ne + 1 end
end
print(lt, ge, ne, y)

-- As loop ends computed in the loop; while with NaN stops.
local rounds = 0
for i = 1, 200 do
  local z = i % 20 == 0 and nan or 3
  local k = 0
  while k < z do k = k + 1 end
  rounds = rounds + k
  repeat k = k + 1 until not (k < z)
  rounds = rounds + k
end
print(rounds)

-- and/or, equality as value, selection of a maximum.
local values = {}
for i = 1, 300 do values[i] = i % 17 == 0 and nan or (i * 37) % 101 end
local max, min, sum, nans = -math.huge, math.huge, 0, 0
for i = 1, #values do
  local v = values[i]
  if v > max then max = v end
  if v < min then min = v end
  if v == v then sum = sum + v else nans = nans + 1 end
end
print(max, min, sum, nans)
local eq = 0
for i = 1, #values do
  local same = values[i] == values[i]
  local other = values[i] ~= values[i]
  eq = eq + (same and 1 or 0) + (other and 1000 or 0) + ((same == not other) and 0 or 1e6)
end
print(eq)

-- Production of NaN in different ways; math functions.
local made = 0
for i = 1, 300 do
  local inf = i % 3 == 0 and math.huge or 1
  if inf - inf ~= inf - inf then made = made + 1 end
  if inf * 0 ~= 0 then made = made + 1000 end
  if math.sqrt(i % 2 - 1) ~= 0 and i % 2 == 0 then made = made + 1000000 end
  local r = math.floor(values[i])
  if r ~= r then made = made + 0.5 end
  if math.max(values[i], 1) ~= math.max(values[i], 1) and values[i] == values[i] then made = made + 1e9 end
end
print(made)

-- Not as a key, but reading with it is nil.
local t, absent, refused = { 1 }, 0, 0
for i = 1, 200 do
  local k = i % 4 == 0 and nan or 1
  if t[k] == nil then absent = absent + 1 end
  if not pcall(function() t[k] = 1 end) then refused = refused + 1 end
end
print(absent, refused)

-- Sorting out and printing.
local text = 0
for i = 1, 200 do
  local v = i % 2 == 0 and nan or -nan
  text = text + #tostring(v) + #(v .. "") + #string.format("%f %g %.1f", v, v, v)
end
print(text, nan, -nan, tostring(-(0 / 0)))
print("ok")
