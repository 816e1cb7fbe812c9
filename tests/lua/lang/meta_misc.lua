-- __call, __len, __tostring, __metatable, metatables of other types, setmetatable's rules.

-- __call
local f = setmetatable({ base = 100 }, { __call = function(self, a, b, ...) return self.base + (a or 0), b, select("#", ...) end })
print(f(), f(1))
print(f(1, 2, 3, 4), (f(5)))
print(pcall(f, 7, "p"))
local obj = { method = setmetatable({}, { __call = function(self, o, x) return o.tag .. x end }), tag = "obj" }
print(obj:method("!"), obj.method({ tag = "t" }, "?"))
local function tail(n) if n == 0 then return "end" end return setmetatable({}, { __call = function(_, k) return tail(k - 1) end })(n) end
print(tail(1000))
for v in setmetatable({}, { __call = function(_, _, c) if (c or 0) < 3 then return (c or 0) + 1 end end }) do io.write(v, " ") end
print()
print(pcall(function() return setmetatable({}, { __call = 5 })() end))
print(pcall(function() return setmetatable({}, { __call = setmetatable({}, { __call = print }) })() end))
print(pcall(setmetatable({}, {})))
print(select("#", setmetatable({}, { __call = function(...) return ... end })(1, nil, nil)))
print(coroutine.wrap(function(...) return f(...) end)(3))
print(table.concat({ xpcall(f, print, 3, "x") and "xpcall calls objects" }))
print(pcall(table.sort, { 3, 1, 2 }, setmetatable({}, { __call = function(_, a, b) return a < b end })))
print(pcall(string.gsub, "x y", "%w", setmetatable({}, { __call = function(_, c) return c:upper() end })))

-- __len is not asked for tables and strings, but for userdata.
local t = setmetatable({ 1, 2 }, { __len = function() return 99 end })
local u = newproxy(true)
getmetatable(u).__len = function(x, y) return x == u and 42, "dropped" end
print(#t, #u, #"four")
print(pcall(function() return #newproxy(true) end))
print(pcall(function() return #nil end))
print(pcall(function() local n = 5 return #n end))

-- __tostring and __name of print, tostring, string.format.
local named = setmetatable({}, { __tostring = function(self) return "named " .. type(self) end })
print(named, tostring(named), string.format("%s|%10s|%-15s|%.3s", named, "x", named, named))
print(pcall(tostring, setmetatable({}, { __tostring = function() return 5 end })))
print(pcall(print, setmetatable({}, { __tostring = function() return {} end })))
print(pcall(tostring, setmetatable({}, { __tostring = function() error("in tostring", 0) end })))
print(tostring(setmetatable({}, { __tostring = function() return nil, "x" end })) == nil)
print(pcall(function() return "a" .. named end))
print(pcall(table.concat, { named }))
print(pcall(error, named))

-- __metatable hides and protects.
local locked = setmetatable({}, { __metatable = "keep out", __index = { x = 1 } })
print(getmetatable(locked), locked.x, pcall(setmetatable, locked, {}))
print(pcall(setmetatable, locked, nil))
print(type(debug.getmetatable(locked)), getmetatable(setmetatable({}, { __metatable = false })))
print(getmetatable("").__index == string, getmetatable("").__metatable, getmetatable(5), getmetatable(nil), getmetatable(print))

-- setmetatable's arguments.
print(pcall(setmetatable, {}))
print(pcall(setmetatable, {}, 5))
print(pcall(setmetatable, 5, {}))
print(pcall(getmetatable))
local mt = {}
local s = setmetatable({}, mt)
print(setmetatable(s, nil) == s, getmetatable(s), setmetatable(s, mt) == s, getmetatable(s) == mt)

-- Userdata by newproxy: with a metatable, without, with a shared one.
local p1, p2 = newproxy(true), newproxy(false)
local p3 = newproxy(p1)
print(type(p1), getmetatable(p1) == getmetatable(p3), getmetatable(p2), p1 == p3, p1 ~= p1)
getmetatable(p1).__index = function(_, k) return k .. "?" end
getmetatable(p1).__newindex = function(_, k, v) rawset(_G, "stored", k .. v) end
getmetatable(p1).__call = function(_, a) return "called " .. a end
getmetatable(p1).__add = function(a, b) return (a == p1 and "p1" or a) .. "+" .. (b == p1 and "p1" or b) end
getmetatable(p1).__concat = function(a, b) return "cat" end
getmetatable(p1).__unm = function() return "unm" end
getmetatable(p1).__tostring = function() return "proxy" end
p1.key = "value"
print(p1.key, p3.other, stored, p1("x"), p1 + 1, 2 + p1, p1 .. "s", "s" .. p1, -p1, tostring(p3))
print(pcall(function() return p2.x end))
print(pcall(function() p2.x = 1 end))
print(pcall(newproxy, 5))
print(pcall(newproxy, p2))

-- Metamethods are found raw: an __index on the metatable does not count.
local indirect = setmetatable({}, setmetatable({}, { __index = { __add = function() return "no" end, __call = print } }))
print(pcall(function() return indirect + 1 end))
print(pcall(function() return indirect() end))

-- Adding a metamethod later is seen at once, taking it away too.
local late_mt = {}
local late = setmetatable({}, late_mt)
for i = 1, 3 do
  local ok, v = pcall(function() return late + i end)
  io.write(tostring(ok), " ", ok and v or "-", "; ")
  late_mt.__add = i == 1 and function(_, k) return k * 10 end or nil
end
print()
print("ok")
