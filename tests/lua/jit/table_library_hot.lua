-- table.insert, remove, concat, sort, maxn, move and # in hot loops.

-- Insert and remove at the end, at the front, in the middle.
local t = {}
for i = 1, 1000 do table.insert(t, i) end
local s = 0
for i = 1, 500 do s = s + table.remove(t) end
print(#t, s)
for i = 1, 200 do table.insert(t, 1, -i) end
for i = 1, 300 do s = s + table.remove(t, 1) end
print(#t, s, t[1], t[#t])
for i = 1, 200 do
  table.insert(t, #t / 2 - #t / 2 % 1 + 1, i)
  if i % 3 == 0 then s = s + table.remove(t, 5) end
end
print(#t, s, t[5], t[200])
local stack, popped = {}, 0
for i = 1, 3000 do
  if i % 3 == 0 then popped = popped + (table.remove(stack) or 0) else table.insert(stack, i % 100) end
end
print(#stack, popped)
local empty = 0
for i = 1, 300 do if table.remove({}) == nil then empty = empty + 1 end end
print(empty)

-- Values of different types pushed through the same line.
local mixed, kinds = {}, { 1, "two", 3.5, true, { 5 } }
for i = 1, 500 do
  table.insert(mixed, kinds[i % 5 + 1])
  mixed[#mixed + 1] = kinds[i * 3 % 5 + 1]
end
local n, str, bool, tab = 0, 0, 0, 0
while #mixed > 0 do
  local v = table.remove(mixed)
  if type(v) == "number" then n = n + v elseif type(v) == "string" then str = str + 1 elseif v == true then bool = bool + 1 else tab = tab + v[1] end
end
print(n, str, bool, tab)

-- concat with numbers, ranges, separators.
local parts, length = {}, 0
for i = 1, 400 do
  parts[i % 20 + 1] = i % 2 == 0 and i or "s" .. i
  if i > 20 then length = length + #table.concat(parts) + #table.concat(parts, ", ") + #table.concat(parts, "-", 5, i % 15 + 5) end
end
print(length)

-- sort with and without comparators, of many small lists; stable keys.
local order = 0
for i = 1, 200 do
  local list = {}
  for j = 1, i % 12 + 1 do list[j] = (i * j * 37) % 53 end
  table.sort(list)
  for j = 1, #list do order = (order * 3 + list[j]) % 1000003 end
  table.sort(list, function(a, b) return a > b end)
  for j = 1, #list do order = (order * 3 + list[j]) % 1000003 end
end
print(order)
local words = {}
for i = 1, 300 do words[i] = string.format("%03d", i * 7 % 300) end
table.sort(words)
print(words[1], words[150], words[300], #table.concat(words))
local records = {}
for i = 1, 200 do records[i] = { key = i * 31 % 17, seq = i } end
local compares = 0
table.sort(records, function(a, b)
  compares = compares + 1
  if a.key ~= b.key then return a.key < b.key end
  return a.seq < b.seq
end)
local ok = true
for i = 2, 200 do ok = ok and (records[i - 1].key < records[i].key or records[i - 1].key == records[i].key and records[i - 1].seq < records[i].seq) end
print(ok, compares > 200)

-- Priority queue and other structures made of them.
local heap, out = {}, 0
local function push(v)
  table.insert(heap, v)
  local i = #heap
  while i > 1 do
    local p = (i - i % 2) / 2
    if heap[p] <= heap[i] then break end
    heap[p], heap[i] = heap[i], heap[p]
    i = p
  end
end
local function pop()
  local top, last = heap[1], table.remove(heap)
  if #heap > 0 then
    heap[1] = last
    local i = 1
    while true do
      local c = i * 2
      if c > #heap then break end
      if c < #heap and heap[c + 1] < heap[c] then c = c + 1 end
      if heap[i] <= heap[c] then break end
      heap[i], heap[c] = heap[c], heap[i]
      i = c
    end
  end
  return top
end
for i = 1, 600 do push(i * 7919 % 1009) end
local prev, sorted = -1, true
while #heap > 0 do
  local v = pop()
  sorted = sorted and prev <= v
  prev, out = v, (out * 3 + v) % 1000003
end
print(sorted, out)

-- maxn, getn, move, unpack, foreachi.
local m = 0
for i = 1, 300 do
  local x = { 1, 2, 3, [i] = i }
  m = m + table.maxn(x) + table.getn({ i, i }) + #table.move({ 1, 2, 3 }, 1, 3, 2) + (select("#", unpack({ 1, 2, 3 }, 1, i % 4)))
  table.foreachi({ 1, 2 }, function(_, v) m = m + v end)
end
print(m)
print("ok")
