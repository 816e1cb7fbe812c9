-- Arrays with holes read and written in hot loops; reads outside of the bounds.

local t = {}
for i = 1, 1000 do t[i] = i end
for i = 1, 1000, 3 do t[i] = nil end
local sum, holes = 0, 0
for i = 1, 1000 do
  local v = t[i]
  if v then sum = sum + v else holes = holes + 1 end
end
print(sum, holes)

-- Holes appear in the middle of the hot loop.
local u = {}
for i = 1, 500 do u[i] = i end
local missing = 0
for round = 1, 20 do
  if round > 10 then u[round * 7] = nil end
  for i = 1, 500 do
    if u[i] == nil then missing = missing + 1 else sum = sum + u[i] end
  end
end
print(sum, missing)

-- Beyond both ends, fractions, negative, huge and absent keys.
local nils, got = 0, 0
for i = -300, 1300 do
  local v = t[i]
  if v == nil then nils = nils + 1 else got = got + v end
end
print(nils, got)
nils = 0
for i = 1, 2000, 0.5 do if t[i] == nil then nils = nils + 1 end end
print(nils)
nils = 0
for i = 1, 200 do
  if t[i * 1e10] == nil then nils = nils + 1 end
  if t[-i] == nil then nils = nils + 1 end
  if t["k" .. i] == nil then nils = nils + 1 end
  if t[i == 0] == nil then nils = nils + 1 end
end
print(nils)

-- Holes filled while reading; default values by or.
local filled = 0
for i = 1, 1000 do
  t[i] = t[i] or -i
  filled = filled + (t[i] < 0 and 1 or 0)
end
print(filled)
local counts = {}
for i = 1, 3000 do
  local k = i % 97
  counts[k] = (counts[k] or 0) + 1
end
print(counts[0], counts[1], counts[96], counts[97])

-- false is not a hole.
local flags, no, absent = {}, 0, 0
for i = 1, 600 do if i % 4 ~= 0 then flags[i] = i % 3 == 0 end end
for i = 1, 600 do
  if flags[i] == nil then absent = absent + 1
  elseif flags[i] == false then no = no + 1 end
end
print(absent, no)

-- Writing nil over and over, then values again.
local w = {}
for round = 1, 30 do
  for i = 1, 100 do w[i] = round % 3 ~= 0 and i or nil end
  for i = 1, 100 do sum = sum + (w[i] or 0.5) end
end
print(sum)

-- nil fields of objects.
local objs = {}
for i = 1, 400 do objs[i] = { id = i, opt = i % 5 == 0 and i or nil } end
local with, without = 0, 0
for round = 1, 5 do
  for i = 1, 400 do
    local o = objs[i]
    if o.opt then with = with + o.opt else without = without + 1 end
    if round == 3 then o.opt = i % 2 == 0 and 1 or nil end
  end
end
print(with, without)

-- Multidimensional with missing rows.
local grid = {}
for y = 1, 40 do if y % 3 ~= 0 then grid[y] = {} for x = 1, 40 do grid[y][x] = x % y end end end
local total = 0
for y = 0, 41 do
  for x = 0, 41 do
    local row = grid[y]
    local v = row and row[x]
    if v then total = total + v end
  end
end
print(total)

-- Metamethods take over at the holes only.
local asked = 0
local d = setmetatable({ 1, nil, 3 }, { __index = function(_, k) asked = asked + 1 return -k end })
sum = 0
for i = 1, 900 do sum = sum + d[i % 3 + 1] end
print(sum, asked)
print("ok")
