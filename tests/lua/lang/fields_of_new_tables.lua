-- Tables that are filled field by field are made with room for the fields. Nothing shows it but time and memory.
local function names(t)
  local all = {}
  for k, v in pairs(t) do all[#all + 1] = k .. "=" .. tostring(v) end
  table.sort(all)
  return table.concat(all, " ")
end

-- Fields that are not assigned yet are not there.
local function object(n)
  local o = {}
  local before = next(o) == nil and names(o) == ""
  o.x = n
  local one = names(o)
  o.y = n > 2 and n or nil
  o.z = n
  return o, before, one
end
for n = 1, 4 do
  local o, before, one = object(n)
  print(names(o), before, one, rawget(o, "y"), rawlen and rawlen(o) or #o)
end

-- Metamethods see new fields.
local log
local watched = {__newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end, __index = function(_, k) return k .. "?" end}
local function watch(n)
  local o = setmetatable({}, watched)
  local y = o.y
  o.x = n
  o.y = n + 1
  o.x = n + 2
  return o, y
end
for n = 1, 100 do
  log = {}
  local o, y = watch(n)
  if n % 25 == 0 then print(names(o), y, table.concat(log, ",")) end
end

-- The class of an object may change, and fields may be removed.
local class = {}
class.__index = class
function class.get(o) return o.value end
local function new(n)
  local o = setmetatable({}, class)
  o.value = n
  o.other = nil
  o.last = n % 3 == 0 and "third" or nil
  if n % 2 == 0 then o.even = true end
  return o
end
local sum, kept = 0, {}
for n = 1, 200 do
  local o = new(n)
  sum = sum + o:get()
  kept[n % 4 + 1] = names(o)
end
print(sum, table.concat(kept, "; "))

-- Returns in front of the fields, errors between them, variables that are assigned again.
local function early(n)
  local o = {}
  if n < 3 then return o end
  o.a = n
  if n > 5 then error(o) end
  o.b = n
  o = {c = n}
  o.d = n
  return o
end
for n = 1, 8 do
  local ok, o = pcall(early, n)
  print(ok, names(o))
end

-- A table that is made in a loop, with functions as fields.
local counters = {}
for i = 1, 3 do
  local c = {}
  local n = 0
  function c.add(k) n = n + k return c end
  function c:get() return n, self == c end
  c.i = i
  counters[i] = c
end
print(counters[1].add(2).add(3):get(), counters[2].add(1):get(), counters[3]:get())

-- Watched by a loop over it, which sets its own fields.
local t = {}
t.p = 1
t.q = 2
for k in pairs(t) do t[k] = nil end
print(next(t), names(t))
print(loadstring(string.dump(function(n) local o = {} o.m = n o.n = n return o end))(7).m)
