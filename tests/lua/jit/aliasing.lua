-- Loads after stores through other names: tables, fields, array slots, upvalues and metatables that may be the same.

-- Two names for one table, sometimes.
local function swap_add(a, b, n)
  local s = 0
  for i = 1, n do
    a.v = i
    b.v = b.v + 1
    s = s + a.v
  end
  return s
end
local p, q = { v = 0 }, { v = 0 }
print(swap_add(p, q, 200), q.v)
print(swap_add(p, p, 200), p.v)
print(swap_add(q, p, 200), p.v)

-- Array slots whose indices may be equal.
local function slots(t, n)
  local s = 0
  for i = 1, n do
    local j, k = i % 5 + 1, i % 3 + 1
    t[j] = i
    t[k] = t[k] + 1
    s = s + t[j] - (j == k and 1 or 0)
  end
  return s
end
print(slots({ 0, 0, 0, 0, 0 }, 500))
local t = { 1, 2, 3, 4, 5, 6, 7, 8 }
for i = 1, 800 do
  local a, b = i % 8 + 1, i * 3 % 8 + 1
  t[a], t[b] = t[b], t[a]
end
print(table.concat(t, " "))
local fib = { 1, 1 }
for i = 3, 100 do
  fib[i] = (fib[i - 1] + fib[i - 2]) % 1009
  fib[i - 2] = fib[i] - fib[i - 1] + 0
end
print(fib[100], fib[98], fib[1])

-- Prefix sums, shifting and reversing in place.
local a = {}
for i = 1, 300 do a[i] = i % 7 end
for i = 2, 300 do a[i] = a[i] + a[i - 1] end
for i = 1, 299 do a[i] = a[i + 1] - a[i] end
for i = 1, 150 do a[i], a[301 - i] = a[301 - i], a[i] end
local c = 0
for i = 1, 300 do c = (c * 3 + a[i]) % 1000003 end
print(c)

-- Fields with constant and computed names; array and hash part; delete and read.
local o = { x = 1, y = 2, [1] = "one" }
local keys, s = { "x", "y", "z", 1 }, 0
for i = 1, 1000 do
  local k = keys[i % 4 + 1]
  o.x = i
  o[k] = i * 2
  s = s + o.x
  if k == "y" then
    o.y = nil
    if o[k] == nil then s = s + 1 end
    o.y = 1
  end
  s = s + (o[1] == "one" and 0 or o[1]) % 3
end
print(s, o.x, o.y, o.z, o[1])

-- The length after stores; next to array reads.
local list, lens = {}, 0
for i = 1, 400 do
  list[#list + 1] = i
  lens = lens + #list
  if i % 3 == 0 then
    list[#list] = nil
    lens = lens + #list
  end
  lens = lens + list[#list]
end
print(#list, lens)

-- Upvalues and calls that write behind the back.
local hidden = { n = 0 }
local function touch() hidden.n = hidden.n + 1 end
local function peek(h)
  local x = h.n
  touch()
  return x + h.n
end
local sum, cell = 0, 0
local function setcell(v) cell = v end
for i = 1, 500 do
  sum = sum + peek(hidden)
  cell = i
  if i % 2 == 0 then setcell(-i) end
  sum = sum + cell
end
print(sum, hidden.n, cell)

-- __newindex and __index between a store and a load of the same name.
local back = { k = 0 }
local front = setmetatable({}, { __index = back, __newindex = function(_, k, v) back[k] = v end })
local m = 0
for i = 1, 500 do
  front.k = i
  back.k = back.k + 1
  m = m + front.k
  if i == 250 then rawset(front, "k", 7) end
end
print(m, back.k, rawget(front, "k"))

-- The metatable is changed through another name between two loads.
local mt1, mt2 = { __index = { v = 1 } }, { __index = { v = 2 } }
local obj = setmetatable({}, mt1)
local same, got = obj, 0
for i = 1, 600 do
  got = got + obj.v
  setmetatable(same, i % 3 == 0 and mt2 or mt1)
  got = got + obj.v * 10
  if i == 300 then mt1.__index = { v = 5 } end
end
print(got)

-- Stores of values that turn out to be the table itself; linked cells that are rewired.
local ring = {}
for i = 1, 10 do ring[i] = { id = i } end
for i = 1, 10 do ring[i].next = ring[i % 10 + 1] end
local at, ids = ring[1], 0
for i = 1, 1000 do
  local nx = at.next
  if i % 50 == 0 then
    at.next = nx.next
    nx.next = at
    at, nx = nx, at.next
    at.next = at.next or nx
  end
  ids = (ids * 3 + nx.id) % 10007
  at = nx
end
print(ids, at.id)
print("ok")
