-- Lots of garbage of every kind, with live structures in between that must stay whole.

-- A live tree is kept while garbage is made around it.
local function build(depth, tag)
  if depth == 0 then return { tag = tag } end
  return { tag = tag, left = build(depth - 1, tag * 2), right = build(depth - 1, tag * 2 + 1) }
end
local function sum(tree) return tree and tree.tag + sum(tree.left) + sum(tree.right) or 0 end
local live = build(10, 1)
local expected = sum(live)
for i = 1, 60 do
  local t = build(6, i)
  assert(t.left.right.tag == i * 4 + 1)
  if i % 20 == 0 then assert(sum(live) == expected) end
end
print(expected)

-- Tables that grow and shrink, with objects moving between them.
local a, b = {}, {}
local serial = 0
for round = 1, 100 do
  for _ = 1, 50 do
    serial = serial + 1
    a[#a + 1] = { id = serial, name = "n" .. serial }
  end
  for _ = 1, 30 do
    local o = table.remove(a, 1 + (round * 7) % #a)
    b[o.name] = o
  end
  if round % 10 == 0 then
    for name, o in pairs(b) do
      assert(o.name == name and name == "n" .. o.id)
      if o.id % 2 == 0 then b[name] = nil end
    end
  end
end
local total = 0
for _, o in ipairs(a) do total = total + o.id end
for _, o in pairs(b) do total = total + o.id end
print(#a, total)

-- Closures with upvalues that outlive their frames.
local counters = {}
for i = 1, 500 do
  local n = i
  local inc = function() n = n + 1 return n end
  counters[i % 100 + 1] = { inc = inc, get = function() return n end, garbage = { i } }
end
local acc = 0
for _, c in ipairs(counters) do
  c.inc()
  acc = acc + c.get()
end
print(acc)

-- Strings in all sizes.
local keep = {}
for i = 1, 3000 do
  local s = ("s"):rep(i % 100) .. i
  if i % 50 == 0 then keep[#keep + 1] = s end
  local _ = s .. s .. i
end
local bytes = 0
for i, s in ipairs(keep) do
  assert(s == ("s"):rep(i * 50 % 100) .. i * 50)
  bytes = bytes + #s
end
print(#keep, bytes)

-- Coroutines: finished, suspended, dropped.
local alive = {}
for i = 1, 600 do
  local co = coroutine.wrap(function(x)
    local mine = { x }
    while true do
      local y = coroutine.yield(mine[1])
      mine = { mine[1] + y, mine }
      if #mine > 1 and mine[1] % 3 == 0 then mine[2] = nil end
    end
  end)
  co(i)
  if i % 30 == 0 then alive[#alive + 1] = co end
end
local from = 0
for round = 1, 5 do for _, co in ipairs(alive) do from = from + co(round) end end
print(from)

-- Steps of the collector at every place.
collectgarbage("stop")
local ring = {}
for i = 1, 1000 do
  ring[i % 64 + 1] = { i, tostring(i), function() return i end }
  if i % 10 == 0 then collectgarbage("step", i % 3) end
end
collectgarbage("restart")
local ringsum = 0
for i = 1, 64 do
  local e = ring[i]
  assert(e[1] == tonumber(e[2]) and e[3]() == e[1])
  ringsum = ringsum + e[1]
end
print(ringsum)

-- Full collections in the middle of work: in metamethods, sort, gsub, iterators, coroutines.
local function full(v)
  collectgarbage()
  return v
end
local mt = setmetatable({}, { __index = function(_, k) return full({ k })[1] end, __add = function(x, y) return full("sum" .. y) end, __concat = function(x, y) return full("cat") end })
print(mt.x, mt + 5, mt .. "s")
local list = { "d", "b", "a", "c" }
table.sort(list, function(x, y) return full(x .. "") < y .. "" end)
print(table.concat(list), (("a b c"):gsub("%w", function(c) return full(c .. c) end)))
local out = {}
for v in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(full({ i })[1]) end end) do out[#out + 1] = full(v .. "") end
print(table.concat(out, " "), select("#", full(1), full(2)), full({ full("x"), full("y") })[2])
print(pcall(function() local t = { full(1) } error(full({ "err" })[1], 0) end))
local varargs = (function(...) full() return select("#", ...), ... end)
print(varargs("a" .. 1, { 1 } and "t", 2.5))

-- Weak caches under pressure keep what is held.
local cache, held = setmetatable({}, { __mode = "v" }), {}
for i = 1, 5000 do
  local o = { id = i }
  cache[i] = o
  if i % 100 == 0 then held[#held + 1] = o end
end
collectgarbage()
for _, o in ipairs(held) do assert(cache[o.id] == o) end
print(#held, cache[1] == nil)
print("ok")
