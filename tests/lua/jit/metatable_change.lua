-- Metatables that are set, changed and removed while the loops that depend on them are hot.

-- __index appears, changes kind, disappears.
local t = {}
local log, sum = {}, 0
for i = 1, 1000 do
  if i == 200 then setmetatable(t, { __index = { k = 1 } }) end
  if i == 400 then getmetatable(t).__index = function(_, k) return #k + 1 end end
  if i == 600 then getmetatable(t).__index = nil end
  if i == 700 then getmetatable(t).__index = setmetatable({}, { __index = { k = 7 } }) end
  if i == 800 then t.k = 100 end
  if i == 900 then t.k = nil setmetatable(t, nil) end
  local v = t.k
  sum = sum + (v or 0)
  if i % 100 == 50 then log[#log + 1] = tostring(v) end
end
print(sum, table.concat(log, " "))

-- __newindex likewise.
local store, writes = {}, 0
local w = {}
for i = 1, 600 do
  if i == 200 then setmetatable(w, { __newindex = store }) end
  if i == 400 then getmetatable(w).__newindex = function(o, k, v) writes = writes + 1 rawset(o, k, -v) end end
  w["k" .. i % 50 + i] = i
end
local own, stored, total = 0, 0, 0
for _, v in pairs(w) do own = own + 1 total = total + v end
for _, v in pairs(store) do stored = stored + 1 total = total + v end
print(own, stored, writes, total)

-- Arithmetic metamethods replaced in a hot loop.
local mt = { __add = function(a, b) return a.v + b end }
local num = setmetatable({ v = 10 }, mt)
sum = 0
for i = 1, 900 do
  if i == 300 then mt.__add = function(a, b) return a.v * b end end
  if i == 600 then mt.__add = nil end
  local ok, r = pcall(function() return num + i end)
  sum = sum + (ok and r or 1)
end
print(sum)

-- __eq, __lt, __le, __call, __concat, __unm, __len of a class that is patched.
local C = {}
C.__index = C
C.__eq = function() return true end
C.__lt = function(a, b) return a.v < b.v end
C.__le = function(a, b) return a.v <= b.v end
C.__call = function(self, x) return self.v + x end
C.__concat = function(a, b) return "c" end
C.__unm = function(a) return -a.v end
local p, q = setmetatable({ v = 1 }, C), setmetatable({ v = 2 }, C)
local score = 0
for i = 1, 1200 do
  if i == 300 then C.__eq = function() return false end end
  if i == 600 then C.__lt = function(a, b) return a.v > b.v end end
  if i == 800 then C.__call = function(self, x) return x end end
  if i == 900 then C.__concat = function(a, b) return "dd" end C.__unm = function() return 5 end end
  if i == 1000 then C.__le = nil end
  score = score + (p == q and 1 or 0) + (p < q and 10 or 0) + (p <= q and 100 or 0) + p(i) + #(p .. q) - -q
end
print(score)

-- The class of one object among many changes; the metatable of the class's metatable changes.
local A, B = {}, {}
A.__index, B.__index = A, B
function A:id() return 1 end
function B:id() return 2 end
local objs = {}
for i = 1, 50 do objs[i] = setmetatable({}, A) end
local ids = 0
for round = 1, 40 do
  if round % 10 == 0 then setmetatable(objs[round], B) end
  if round == 30 then function A:id() return 1000 end end
  for i = 1, #objs do ids = ids + objs[i]:id() end
end
print(ids)
A.id = nil
setmetatable(A, { __index = function(_, k) return k == "id" and function() return 3 end or nil end })
ids = 0
for i = 1, #objs do ids = ids + objs[i]:id() end
print(ids)

-- The string metatable.
local smt = getmetatable("")
local old = smt.__index
sum = 0
for i = 1, 600 do
  if i == 300 then smt.__index = function(s, k) if k == "double" then return #s * 2 end return old[k] end end
  sum = sum + (("abc").double or 0) + ("xy"):len()
end
smt.__index = old
print(sum, ("abc").double)

-- Metatables given back and forth between two states every round.
local mt1, mt2 = { __index = { v = 1 } }, { __index = { v = 2 } }
local o = setmetatable({}, mt1)
sum = 0
for i = 1, 1000 do
  sum = sum + o.v
  setmetatable(o, i % 2 == 0 and mt1 or mt2)
end
print(sum)
print("ok")
