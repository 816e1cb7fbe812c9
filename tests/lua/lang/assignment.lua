-- Multiple assignment: everything on the right is evaluated before anything on the left changes.

local a, b, c = 1, 2, 3
a, b, c = c, a, b
print(a, b, c)
a, b = b, a
print(a, b)

-- Tables and indices on the left use the values from before.
local t, i = {}, 1
i, t[i] = i + 1, 20
print(i, t[1], t[2])
local u = { 1, 2, 3, 4 }
local k = 1
k, u[k], u[k + 1] = 3, "x", "y"
print(k, u[1], u[2], u[3])
u[1], u[2] = u[2], u[1]
print(u[1], u[2])
local p = { name = "p" }
local q = p
p, p.name = { name = "new" }, "old changed"
print(p.name, q.name)
local s = { { 1 }, { 2 } }
s[1], s[1][1], s[2] = s[2], "via old", s[1]
print(s[1][1], s[2][1])

-- More and fewer values than names.
local function two() return 1, 2 end
local x, y, z, w = 0, two()
print(x, y, z, w)
x, y, z = two(), two()
print(x, y, z)
x, y = 1, 2, print("evaluated though dropped")
print(x, y)
local n1, n2
print(n1, n2)
local m1, m2, m3 = nil, false
print(m1, m2, m3)
x, y, z = (two())
print(x, y, z)

-- The order of evaluation of the right side is left to right.
local log = {}
local function see(v)
  log[#log + 1] = tostring(v)
  return v
end
local tab = {}
tab[see("k1")], tab[see("k2")] = see("v1"), see("v2")
print(table.concat(log, " "), tab.k1, tab.k2)

-- Upvalues, globals and fields mixed.
local up = 1
local function swap_global()
  up, shared_global = shared_global, up
  return up, shared_global
end
shared_global = "g"
print(swap_global())
print(swap_global())
do
  local env = { v = 1 }
  local function f() env.v, up = up, env.v return env.v, up end
  print(f())
end

-- A local statement's names are not in scope in its own values.
local x1 = 5
local x1, y1 = x1 + 1, x1 + 2
print(x1, y1)
local f = function() return f end
print(f())
local function g() return g end
print(g() == g)
function f2() return f2 end
print(f2() == f2)

-- Nested names for functions.
local mod = { sub = { deep = {} } }
function mod.one() return 1 end
function mod.sub.two(v) return v * 2 end
function mod.sub.deep:three(v) return self == mod.sub.deep, v * 3 end
print(mod.one(), mod.sub.two(4), mod.sub.deep:three(5))

-- Assignment through __newindex keeps its order: right to left in the end.
local order = {}
local proxy = setmetatable({}, { __newindex = function(_, key, v) order[#order + 1] = key .. "=" .. v end })
proxy.a, proxy.b, proxy.c = 1, 2, 3
table.sort(order)
print(table.concat(order, " "))

-- Swapping in a loop; long chains of moves.
local r = { 5, 3, 8, 1, 9, 2 }
for pass = 1, #r do
  for j = 1, #r - pass do
    if r[j] > r[j + 1] then r[j], r[j + 1] = r[j + 1], r[j] end
  end
end
print(table.concat(r, " "))
local v1, v2, v3, v4, v5, v6 = 1, 2, 3, 4, 5, 6
for _ = 1, 7 do v1, v2, v3, v4, v5, v6 = v2, v3, v4, v5, v6, v1 end
print(v1, v2, v3, v4, v5, v6)
local fa, fb = 0, 1
for _ = 1, 30 do fa, fb = fb, fa + fb end
print(fa, fb)

-- Values that are dropped are still evaluated once, calls as statements too.
local calls = 0
local function called() calls = calls + 1 return calls, calls end
local one = called()
local _ = called(), called()
called()
print(calls, one)
for _, source in ipairs { "a, b", "a + 1 = 2", "f() = 1", "(a) = 1", "a = ", "local a.b = 1", "local 1", "x", "'s' = 1" } do
  print(loadstring(source, "=s"))
end
print("ok")
