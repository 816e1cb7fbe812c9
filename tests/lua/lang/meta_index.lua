-- __index and __newindex: functions, tables, chains, loops, raw access, and on values that are not tables.

local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, ",") end
local function flush()
  print(table.concat(log, " "))
  log = {}
end

-- Functions are asked for what is absent only.
local t = setmetatable({ a = 1, f = false }, { __index = function(_, k) note("get", tostring(k)) return k end })
print(t.a, t.b, t[1], t.f, t[2.5], t[true], rawget(t, "b"))
flush()
print(t[nil])
flush()

-- Tables, chained.
local base = { x = "base x", y = "base y" }
local mid = setmetatable({ y = "mid y" }, { __index = base })
local top = setmetatable({}, { __index = mid })
print(top.x, top.y, top.z, rawget(top, "x"))
base.z = "late"
print(top.z)
mid.x = "shadow"
print(top.x)
mid.x = nil
print(top.x)
local chain = { deep = "found" }
for _ = 1, 50 do chain = setmetatable({}, { __index = chain }) end
print(chain.deep, chain.none)
local ends = setmetatable({}, { __index = setmetatable({}, { __index = function(o, k) return type(o) .. k end }) })
print(ends.key)

-- __newindex: functions, tables, chained, and only for absent keys.
local store = {}
local w = setmetatable({ own = 1 }, { __newindex = function(o, k, v) note("set", tostring(k), tostring(v)) rawset(store, k, v) end })
w.own, w.new, w[1], w[1] = 2, 3, 4, 5
w.new = nil
flush()
print(w.own, rawget(w, "new"), store[1], store.new)
local sink = {}
local through = setmetatable({}, { __newindex = setmetatable({}, { __newindex = sink }) })
through.a, through[1] = 1, 2
print(rawget(through, "a"), sink.a, sink[1])
w.own = nil
w.own = "again"
flush()
local arr = setmetatable({}, { __newindex = function(o, k, v) rawset(o, k, v * 10) end })
for i = 1, 5 do arr[i] = i end
arr[3] = 7
print(table.concat(arr, " "), #arr)

-- __index with __newindex: a proxy that counts, and defaults that are stored on first use.
local function proxy(target)
  local reads, writes = 0, 0
  return setmetatable({}, {
    __index = function(_, k) reads = reads + 1 return target[k] end,
    __newindex = function(_, k, v) writes = writes + 1 target[k] = v end,
  }), function() return reads, writes end
end
local target = {}
local p, counts = proxy(target)
for i = 1, 10 do p[i] = i end
local sum = 0
for i = 1, 10 do sum = sum + p[i] end
p.x = p.y
print(sum, #target, #p, counts())
local auto
auto = { __index = function(o, k) local v = setmetatable({}, auto) rawset(o, k, v) return v end }
local tree = setmetatable({}, auto)
tree.a.b.c = 5
tree.a.b.d = 6
print(tree.a.b.c, tree.a.b.d, rawget(tree.a, "b") == tree.a.b)

-- Metatables that change while in use.
local mt = {}
local o = setmetatable({}, mt)
print(o.k)
mt.__index = { k = "table" }
print(o.k)
mt.__index = function() return "function" end
print(o.k)
mt.__index = nil
print(o.k)
setmetatable(o, { __index = { k = "other" } })
print(o.k)
setmetatable(o, nil)
print(o.k)

-- Errors: indexing through what cannot be indexed, and endless chains.
print(pcall(function() return setmetatable({}, { __index = 5 }).x end))
print(pcall(function() setmetatable({}, { __newindex = true }).x = 1 end))
local l1, l2 = {}, {}
setmetatable(l1, { __index = l2, __newindex = l2 })
setmetatable(l2, { __index = l1, __newindex = l1 })
print(pcall(function() return l1.x end))
print(pcall(function() l1.x = 1 end))
print(pcall(function() return setmetatable({}, { __index = function(_, k) error("custom " .. k, 0) end }).oops end))

-- Strings index into the string table; other types can be given metatables.
print(("x").len == string.len, ("x").nosuch, #("abc"))
debug.setmetatable(0, { __index = function(n, k) return k .. n end })
print((5).abc, (2.5)[1])
debug.setmetatable(0, nil)
print(pcall(function() return (5).abc end))
debug.setmetatable(nil, { __index = function() return "nothing" end })
print((nil).x, undefined_global.field)
debug.setmetatable(nil, nil)
debug.setmetatable(print, { __index = { tag = "fn" } })
print(print.tag, (function() end).tag)
debug.setmetatable(print, nil)

-- rawget, rawset, rawequal pass it all by.
local raw = setmetatable({}, { __index = function() error("no") end, __newindex = function() error("no") end, __eq = function() error("no") end })
rawset(raw, "k", 1)
print(rawget(raw, "k"), rawget(raw, "none"), rawequal(raw, raw), rawequal(raw, {}), rawset(raw, 1, 2) == raw)
print(pcall(rawget, 5, 1), pcall(rawset, {}, 1), pcall(rawequal, 1))
print("ok")
