-- Tables that only exits need are made there: once, whole, and with what refers to them.
local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Point) end
Point.__eq = function(a, b) return a.x == b.x and a.y == b.y end
local function point(x, y) return setmetatable({ x = x, y = y }, Point) end

local function show(t)
  if type(t) ~= "table" then return tostring(t) end
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  table.sort(keys)
  for i, k in ipairs(keys) do
    local v = t[k]
    if v == nil then v = t[tonumber(k)] end
    keys[i] = k .. "=" .. (type(v) == "table" and "{" .. show(v) .. "}" or tostring(v))
  end
  return table.concat(keys, ",") .. (getmetatable(t) == Point and ":Point" or "")
end

-- The sum of points is never made but where the loop is left.
local sum = point(0, 0)
for i = 1, 200 do
  sum = sum + point(i, -i)
  if sum.x > 15000 then break end
end
print("sum", show(sum))

-- Left in the middle again and again, with a table that is half full.
local function half(n)
  local kept = {}
  for i = 1, n do
    local t = { a = i, b = "b", c = false }
    if i % 50 == 0 then kept[#kept + 1] = t end
    t.b = i * 2
    t.d = 7.5
    if i % 70 == 0 then kept[#kept + 1] = t end
  end
  return kept
end
for i, t in ipairs(half(300)) do print("half", i, show(t)) end

-- One table under several names, and tables in tables.
local function twice(n)
  local last
  for i = 1, n do
    local inner = { value = i }
    local outer = { one = inner, two = inner, list = { i, i + 1, inner } }
    local alias = outer
    if i == n - 3 then
      inner.value = "changed"
      last = { outer, alias, inner }
      break
    end
  end
  return last
end
local last = twice(150)
print("same", last[1] == last[2], last[1].one == last[1].two, last[1].list[3] == last[3], show(last[1]))

-- The table of the iteration before.
local function before(n)
  local prev = { n = 0 }
  for i = 1, n do
    if prev.n ~= i - 1 then return "wrong" end
    if i == n then return prev end
    prev = { n = i, half = i / 2 }
  end
end
print("before", show(before(120)))

-- Identity: what is compared, is one object.
local equal, raw = 0, 0
for i = 1, 200 do
  local a, b = point(i, 1), point(i, 1)
  if a == b then equal = equal + 1 end
  if rawequal(a, b) or not rawequal(a, a) then raw = raw + 1 end
end
print("identity", equal, raw)

-- An error while the table is nowhere.
local function fails(n)
  for i = 1, n do
    local t = { i = i }
    if i > 100 then t.i = t.i + nil end
  end
end
print("error", pcall(fails, 200))

-- Array parts, and constants as keys of all kinds.
local function keys(n)
  for i = 1, n do
    local t = { i, i * 2, [10] = i, [1.5] = "x", [true] = i, s = { i } }
    if i == n then return t, #t end
  end
end
local t, len = keys(130)
print("keys", t[1], t[2], t[10], t[1.5], t[true], t.s[1], len)

-- Kept by one side of a branch only.
local kept, count = {}, 0
for i = 1, 400 do
  local p = point(i, i % 3)
  if p.y == 0 then kept[#kept + 1] = p else count = count + p.x end
end
print("branch", #kept, count, show(kept[1]), show(kept[#kept]))

-- Through collections.
local live = {}
for i = 1, 20000 do
  local p = point(i, i) + point(1, 2)
  if i % 1000 == 0 then
    live[#live + 1] = p
    collectgarbage "step"
  end
end
collectgarbage()
local xs = 0
for _, p in ipairs(live) do xs = xs + p.x + p.y end
print("collected", #live, xs)
