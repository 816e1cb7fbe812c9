-- table.sort: sizes, orders, duplicates, comparators, records, errors.

local seed = 12345
local function random(n)
  seed = seed * 16807 % 2147483647
  return seed % n
end

local function sorted(t, less)
  less = less or function(a, b) return a < b end
  for i = 2, #t do if less(t[i], t[i - 1]) then return false end end
  return true
end

-- All small sizes, random, ascending, descending, equal, few different values.
for n = 0, 40 do
  local lists = { {}, {}, {}, {}, {} }
  for i = 1, n do
    lists[1][i] = random(1000)
    lists[2][i] = i
    lists[3][i] = n - i
    lists[4][i] = 7
    lists[5][i] = random(3)
  end
  for _, t in ipairs(lists) do
    local sum = 0
    for i = 1, n do sum = sum + t[i] end
    table.sort(t)
    assert(sorted(t) and #t == n)
    for i = 1, n do sum = sum - t[i] end
    assert(sum == 0)
    table.sort(t, function(a, b) return a > b end)
    assert(sorted(t, function(a, b) return a > b end))
  end
end

-- Larger ones, with a checksum of the order.
local function checksum(t)
  local c = 0
  for i = 1, #t do c = (c * 31 + t[i]) % 1000003 end
  return c
end
local big = {}
for i = 1, 5000 do big[i] = random(1000000) end
table.sort(big)
print(sorted(big), checksum(big))
local count = 0
table.sort(big, function(a, b) count = count + 1 return a > b end)
print(sorted(big, function(a, b) return a > b end), checksum(big), count > 5000 and count < 500000)
local organ = {}
for i = 1, 1000 do organ[i] = i <= 500 and i or 1001 - i end
table.sort(organ)
print(sorted(organ), checksum(organ))

-- Strings, mixed length; floats with infinities.
local words = {}
for w in ("the quick brown fox jumps over the lazy dog and runs Away from The bear"):gmatch("%a+") do words[#words + 1] = w end
table.sort(words)
print(table.concat(words, " "))
table.sort(words, function(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end)
print(table.concat(words, " "))
table.sort(words, function(a, b) return a:lower() < b:lower() or a:lower() == b:lower() and a < b end)
print(table.concat(words, " "))
local floats = { 1.5, -1 / 0, 3, 2.25, 1 / 0, -0.5, 0, 1e300, -1e300, 3.0 }
table.sort(floats)
print(table.concat(floats, " "))

-- Records by several keys; indirect sort of indices.
local people = {}
for i = 1, 30 do people[i] = { name = "p" .. i, age = random(5) + 20, id = i } end
table.sort(people, function(a, b)
  if a.age ~= b.age then return a.age > b.age end
  return a.id < b.id
end)
local out = {}
for i, p in ipairs(people) do out[i] = p.age .. p.name end
print(table.concat(out, " "))
local values, index = { 30, 10, 20, 40 }, { 1, 2, 3, 4 }
table.sort(index, function(a, b) return values[a] < values[b] end)
print(table.concat(index, " "))

-- Metamethod __lt.
local mt = { __lt = function(a, b) return a.v < b.v end }
local objs = {}
for i = 1, 50 do objs[i] = setmetatable({ v = random(100) }, mt) end
table.sort(objs)
local vs = {}
for i = 1, 50 do vs[i] = objs[i].v end
print(sorted(vs), checksum(vs))

-- Stops at the border; other fields stay.
local partial = { 3, 1, 2, n = "field", [10] = "far" }
table.sort(partial)
print(partial[1], partial[2], partial[3], partial.n, partial[10])

-- Errors: from the comparator, incomparable values, invalid orders that are noticed.
print(pcall(table.sort, { 3, 2, 1 }, function(a, b) error("cmp " .. type(a), 0) end))
print((pcall(table.sort, { 1, "x", 2 })))
print((pcall(table.sort, { {}, {} })))
print((pcall(table.sort, { 1, 2, 3, nil == nil })))
print(pcall(table.sort, { 1, 2, 3, 4, 5, 6 }, function() return true end))
local t = { 5, 3, 1 }
print(pcall(table.sort, t, function(a, b) if b == 1 or a == 1 then error("stop", 0) end return a < b end))
print(#t, t[1] + t[2] + t[3])

-- The comparator's truth value counts, not its type; it may use upvalues and sort again.
local list = { 3, 1, 2 }
table.sort(list, function(a, b) return a < b and "yes" or nil end)
print(table.concat(list, " "))
local inner_sorts = 0
table.sort(list, function(a, b)
  local two = { b, a }
  table.sort(two)
  inner_sorts = inner_sorts + 1
  return a ~= b and two[1] == a
end)
print(table.concat(list, " "), inner_sorts > 0)
print("ok")
