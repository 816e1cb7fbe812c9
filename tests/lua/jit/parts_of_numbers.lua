-- modf, frexp, ldexp and log to a base; next of a table without a key.

local inf = 1 / 0
local values = { 0, 1, -1, 3, -3, 0.5, -0.5, 2.75, -2.75, 1e15 + 0.5, -1e15 - 0.5, 1e300, -1e300, 5e-324, -5e-324, 2 ^ 31, -2 ^ 31,
  2 ^ 31 - 1, inf, -inf, 1 / -inf, 1e-310, 123456789.125 }
local function show(x) return ("%.17g"):format(x) end

local lines = {}
for round = 1, 30 do
  for i, x in ipairs(values) do
    local whole, part = math.modf(x)
    local m, e = math.frexp(x)
    lines[i] = table.concat({ show(x), show(whole), show(part), show(m), show(e), show(math.ldexp(m, e)) }, " ")
  end
end
print(table.concat(lines, "\n"))

local back, sum, whole = 0, 0, 0
for i = 1, 300 do
  local x = i / 7
  local m, e = math.frexp(x)
  if math.ldexp(m, e) == x then back = back + 1 end
  local a, b = math.modf(i / 4)
  whole, sum = whole + a, sum + b
end
print(back, whole, sum)

-- One of the results, and kinds of arguments that change.
local n = 0
for i = 1, 300 do
  n = n + (math.modf(i % 2 == 0 and i or i + 0.5))
  n = n + select(2, math.frexp(i)) + (math.ldexp(0.5, i % 3 == 0 and 2.9 or i % 5))
  n = n + (math.modf(tostring(i)))
end
print(n)
for i = 1, 200 do
  local ok, message = pcall(math.modf, i == 180 and {} or i)
  if not ok then print(i, message) end
end

local logs = 0
for i = 1, 300 do logs = logs + math.log(i, 2) + math.log(i, 10) + math.log(i, 3) end
print(("%.10f"):format(logs))
print(math.log(0, 2), math.log(1, 2), math.log(8, 2), math.log(-1, 2) ~= math.log(-1, 2))

-- Is a table empty? Which entry comes first?
local t, empty, filled = {}, 0, 0
for i = 1, 300 do
  if next(t) == nil then empty = empty + 1 else filled = filled + 1 end
  if i % 3 == 0 then t[i % 2 == 0 and "k" or 1] = i elseif i % 3 == 1 then t = {} end
end
print(empty, filled)
local kinds = { { 1 }, { "s" }, { x = true }, { [2.5] = {} }, {}, { false }, { [true] = 1 } }
local seen = {}
for i = 1, 420 do
  local k, v = next(kinds[i % #kinds + 1])
  local name = type(k) .. "/" .. type(v)
  seen[name] = (seen[name] or 0) + 1
  local second = (select(2, next(kinds[i % 3 + 1], nil)))
  seen[type(second)] = (seen[type(second)] or 0) + 1
end
local names = {}
for name, count in pairs(seen) do names[#names + 1] = name .. "=" .. count end
table.sort(names)
print(table.concat(names, " "))

-- Entries are taken until there are none.
local taken = 0
for round = 1, 20 do
  local work = {}
  for i = 1, 20 do work["job" .. i] = i end
  while true do
    local name, i = next(work)
    if not name then break end
    work[name] = nil
    taken = taken + i
  end
end
print(taken)
for i = 1, 200 do
  local ok, message = pcall(next, i == 150 and "x" or {})
  if not ok then print(i, message) end
end
