-- next, pairs, ipairs: everything is visited once, also while the loop clears or changes entries.

local function size(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- The array part comes in order.
local t = { 10, 20, 30, x = 1 }
local keys = {}
for k in pairs(t) do keys[#keys + 1] = k end
print(keys[1], keys[2], keys[3], keys[4])
print(next({}), next({ 5 }), next({ 5 }, 1), (next({ x = 1 })), next({ x = 1 }, "x"))
for i, v in ipairs(t) do io.write(i, "=", v, " ") end
print()
for i, v in ipairs { 1, 2, nil, 4 } do io.write(i, "=", v, " ") end
print()

-- Everything once, whatever the keys.
local mixed = { 1, 2, 3, a = 4, b = 5, [0.5] = 6, [-3] = 7, [true] = 8, [1e10] = 9 }
local sum, seen = 0, {}
for k, v in pairs(mixed) do
  assert(not seen[k] and mixed[k] == v)
  seen[k] = true
  sum = sum + v
end
print(sum, size(mixed))

-- Clearing the entry that was just seen, and changing values.
local big = {}
for i = 1, 500 do big[i] = i end
for i = 1, 500 do big["s" .. i] = i end
local visits = 0
for k in pairs(big) do
  visits = visits + 1
  big[k] = nil
end
print(visits, next(big), size(big))
for i = 1, 100 do big["v" .. i] = i end
for k, v in pairs(big) do big[k] = v * 2 end
sum = 0
for _, v in pairs(big) do sum = sum + v end
print(sum)
for k, v in pairs(big) do if v % 4 == 0 then big[k] = nil end end
print(size(big))

-- Clearing others while walking: never seen after they are gone.
local pair = {}
for i = 1, 64 do pair["a" .. i], pair["b" .. i] = i, i end
local alive = 0
for k in pairs(pair) do
  assert(pair[k], k)
  alive = alive + 1
  local other = (k:sub(1, 1) == "a" and "b" or "a") .. k:sub(2)
  pair[other] = nil
end
print(alive, size(pair))

-- next by hand, from any key.
local hand, k, v = 0, next(mixed)
while k ~= nil do
  hand = hand + v
  k, v = next(mixed, k)
end
print(hand)
print(pcall(next, {}, "nokey"))
print(pcall(next, { 1, 2 }, 7.5))
print(pcall(next))
print(pcall(next, 5))
print(next({ 1, 2 }, nil), next({ 1, 2 }, 2.0), next({ 1, 2 }, 0 + 1))

-- ipairs stops at the first nil, ignores other keys, sees what is added ahead.
local grow = { 1 }
for i, x in ipairs(grow) do if i < 5 then grow[i + 1] = x * 2 end end
print(table.concat(grow, " "))
local shrink = { 1, 2, 3, 4, 5 }
local n = 0
for i in ipairs(shrink) do
  n = n + 1
  shrink[#shrink] = nil
end
print(n)
for _ in ipairs { nil, 1 } do error("no") end
for _ in ipairs { [0] = 1, [2] = 2 } do error("no") end

-- What pairs and ipairs return, and using them by hand.
local f, s, c = ipairs({ "a", "b" })
print(type(f), #s, c, f(s, 0), f(s, 1), f(s, 2))
f, s, c = pairs({})
print(f == next, type(s), c)
print(pcall(ipairs))
print(pcall(ipairs, nil))
print(pcall(pairs, 5))

-- No metamethods: pairs and ipairs are raw here.
local meta = setmetatable({ 1, 2 }, {
  __index = function(_, key) return key <= 5 and key or nil end,
  __pairs = function() error("not called") end,
  __ipairs = function() error("not called") end,
})
n = 0
for _ in ipairs(meta) do n = n + 1 end
for _ in pairs(meta) do n = n + 1 end
print(n)

-- Nested walks over one table, walks left early, walks of the table of tables.
local inner = 0
for a in pairs(mixed) do for b in pairs(mixed) do if a == b then inner = inner + 1 end end end
print(inner)
for key in pairs(mixed) do if key == 2 then break end end
local groups = { { 1, 2 }, { 3 }, {} }
sum = 0
for _, g in ipairs(groups) do for _, x in pairs(g) do sum = sum + x end end
print(sum)

-- Globals can be walked, with the standard names in.
local names = 0
for name, value in pairs(_G) do
  assert(type(name) == "string" and value ~= nil)
  if ({ print = 1, pairs = 1, string = 1, _G = 1, bit = 1, jit = 1, coroutine = 1 })[name] then names = names + 1 end
end
print(names)
print("ok")
