-- Functions with loops that return early, called many times, with several results and from several depths.

local function index_of(t, v)
  for i = 1, #t do
    if t[i] == v then return i end
  end
  return nil, "absent"
end
local t = {}
for i = 1, 100 do t[i] = i * 7 % 101 end
local sum, absent = 0, 0
for v = 1, 130 do
  local i, why = index_of(t, v)
  if i then sum = sum + i elseif why == "absent" then absent = absent + 1 end
end
print(sum, absent)

-- Several return statements with different numbers and types of results.
local function classify(n)
  if n < 0 then return "negative", -n end
  for d = 2, 10 do
    if n % d == 0 then return d, n / d, "divisible" end
  end
  if n > 500 then return false end
  return
end
local counts = { 0, 0, 0, 0 }
for n = -50, 700 do
  local a, b, c = classify(n)
  if a == "negative" then counts[1] = counts[1] + b
  elseif c then counts[2] = counts[2] + a + b
  elseif a == false then counts[3] = counts[3] + 1
  elseif a == nil then counts[4] = counts[4] + 1 end
  counts[5] = (counts[5] or 0) + select("#", classify(n))
end
print(table.concat(counts, " "))

-- Return out of nested loops, out of while, out of pairs.
local function pair_with_sum(list, target)
  for i = 1, #list do
    for j = i + 1, #list do
      if list[i] + list[j] == target then return i, j end
    end
  end
end
local pi, pj = 0, 0
for target = 3, 205, 2 do
  local i, j = pair_with_sum(t, target)
  if i then pi, pj = pi + i, pj + j end
end
print(pi, pj)
local function log2(n)
  local k = 0
  while true do
    if n < 2 then return k end
    n = n / 2
    k = k + 1
  end
end
local logs = 0
for n = 1, 600 do logs = logs + log2(n) end
print(logs)
local function has_value(m, v) for _, x in pairs(m) do if x == v then return true end end return false end
local m, yes = {}, 0
for i = 1, 40 do m["k" .. i] = i * i end
for v = 1, 400 do if has_value(m, v) then yes = yes + 1 end end
print(yes)

-- The call is in a condition, in an argument, in an expression, in a tail position.
local function first_multiple(of, from) for i = from, from + 50 do if i % of == 0 then return i end end return 0 end
local function via_tail(of, from) return first_multiple(of, from) end
local acc = 0
for i = 1, 500 do
  if first_multiple(7, i) > i + 3 then acc = acc + 1 end
  acc = acc + math.max(first_multiple(11, i), 5) - first_multiple(5, i) * 2 + via_tail(60, i)
  while first_multiple(3, acc) ~= acc do acc = acc + 1 end
end
print(acc)

-- Early return through two inlined levels.
local function check(v) if v % 13 == 0 then return "thirteen" end if v % 7 == 0 then return "seven" end return nil end
local function scan(from, to)
  for v = from, to do
    local r = check(v)
    if r then return r, v end
  end
  return "none", to
end
local thirteen, seven, where = 0, 0, 0
for i = 1, 400 do
  local r, v = scan(i, i + i % 6)
  if r == "thirteen" then thirteen = thirteen + 1 elseif r == "seven" then seven = seven + 1 end
  where = where + v
end
print(thirteen, seven, where)

-- A function that returns from its loop always in the first round, then never.
local function maybe(n, leave)
  local s = 0
  for i = 1, n do
    s = s + i
    if leave then return s end
  end
  return -s
end
local total = 0
for i = 1, 300 do total = total + maybe(10, true) end
for i = 1, 300 do total = total + maybe(10, false) end
for i = 1, 300 do total = total + maybe(i % 3, i % 2 == 0) end
print(total)

-- Return of closures, of varargs and of nothing from loops.
local function counter(limit)
  for i = 1, limit do
    if i * i > limit then
      return function(x) return x + i end
    end
  end
  return function() return -1 end
end
local cs = 0
for i = 1, 200 do cs = cs + counter(i)(i) end
print(cs)
local function rest(n, ...)
  for i = 1, n do
    if select("#", ...) < i then return "short", i end
    if i == 3 then return ... end
  end
end
local rs = 0
for i = 1, 300 do
  local a, b, c, d = rest(i % 5, i, i + 1, i + 2, i % 2 == 0 and 4 or nil)
  if a == "short" then rs = rs + 1000 else rs = rs + (a or 0) + (b or 0) + (c or 0) + (d or 0) end
end
print(rs, select("#", rest(0)), rest(2, 1))
print("ok")
