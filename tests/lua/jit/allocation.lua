-- Loops that allocate a lot: objects that die at once, that escape now and then, that are linked to older ones.

-- Short-lived tables, strings, closures; collections happen meanwhile.
local sum = 0
for i = 1, 20000 do
  local p = { x = i, y = -i, tag = "p" .. i % 10 }
  local q = { p.x + 1, p.y - 1 }
  sum = sum + q[1] + q[2] + #p.tag
end
print(sum)

-- Temporary objects that need not exist, with one exit that needs them.
local kept = {}
local function mid(a, b) return { x = (a.x + b.x) / 2, y = (a.y + b.y) / 2 } end
local cur = { x = 0, y = 0 }
for i = 1, 5000 do
  local m = mid(cur, { x = i, y = i * 2 })
  if i % 500 == 0 then kept[#kept + 1] = m end
  cur = { x = m.x + 1, y = m.y - 1 }
end
local kx, ky = 0, 0
for _, k in ipairs(kept) do kx, ky = kx + k.x, ky + k.y end
print(#kept, string.format("%.6f %.6f %.6f %.6f", kx, ky, cur.x, cur.y))

-- Aliases of a temporary object.
local same, other = 0, 0
for i = 1, 3000 do
  local o = { v = i }
  local alias = o
  alias.v = alias.v + 1
  local list = { o, alias, { v = i } }
  if list[1] == list[2] then same = same + list[2].v end
  if list[3] ~= o then other = other + list[3].v end
  list[1].v = 0
  same = same + o.v
end
print(same, other)

-- Old objects that get new children (and lose them).
local roots = {}
for i = 1, 50 do roots[i] = { id = i } end
for i = 1, 10000 do
  local r = roots[i % 50 + 1]
  r.child = { parent = r, n = i, before = r.child and r.child.n }
  if i % 7 == 0 then r.child = nil end
  if i % 11 == 0 then r[#r + 1] = { i } end
end
local children, lists = 0, 0
for i = 1, 50 do
  local r = roots[i]
  if r.child then
    assert(r.child.parent == r)
    children = children + r.child.n + (r.child.before or 0)
  end
  for j = 1, #r do lists = lists + r[j][1] end
end
print(children, lists)

-- A long list grows while garbage is made; its order stays.
local list, len = nil, 0
for i = 1, 20000 do
  local junk = { i, { i } }
  if i % 10 == 0 then
    list = { value = junk[2][1], next = list }
    len = len + 1
  end
end
local ordered, count, prev = true, 0, math.huge
local node = list
while node do
  ordered = ordered and node.value < prev
  prev, count, node = node.value, count + 1, node.next
end
print(len, count, ordered)

-- Explicit collections and steps within hot loops.
local survivors = {}
for i = 1, 300 do
  survivors[i % 20 + 1] = { i, tostring(i), function() return i end }
  if i % 60 == 0 then collectgarbage() elseif i % 5 == 0 then collectgarbage("step", 1) end
end
local sv = 0
for i = 1, 20 do
  local s = survivors[i]
  assert(tostring(s[1]) == s[2] and s[3]() == s[1])
  sv = sv + s[1]
end
print(sv)

-- Constructors of different sizes and shapes, nested, with varying contents.
local weight = 0
for i = 1, 4000 do
  local t = i % 4 == 0 and {} or i % 4 == 1 and { i } or i % 4 == 2 and { i, i + 1, a = { b = { c = i } } } or { a = { b = { c = 1 } }, [i] = i }
  weight = weight + #t + (t.a and t.a.b.c or 0) + (t[i] or 0)
end
print(weight)

-- Memory stays bounded.
collectgarbage()
local before = collectgarbage("count")
for i = 1, 100000 do
  local a = { i }
  local b = { a }
  local s = "str" .. i
end
collectgarbage()
print(collectgarbage("count") < before + 200)

-- Weak tables and finalizers meanwhile.
local weak, final = setmetatable({}, { __mode = "v" }), 0
for i = 1, 3000 do
  weak[i % 100 + 1] = { i }
  if i % 300 == 0 then
    local u = newproxy(true)
    getmetatable(u).__gc = function() final = final + 1 end
  end
end
collectgarbage()
collectgarbage()
print(final >= 9, next(weak) == nil or true)
print("ok")
