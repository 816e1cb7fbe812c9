-- Lua Fun, by its own tests; moses; middleclass; serpent.
local tree = "deb/usr/share/lua/5.1/"
package.path = "luafun/?.lua;middleclass/?.lua;serpent/src/?.lua;" .. tree .. "?.lua;" .. package.path
local fun = require("fun")
local env = setmetatable({}, { __index = function(_, k) return fun[k] or _G[k] end })
env.dump = function(gen, init, state) fun.each(print, gen, init, state) end
env.dump_state = function(gen, init, state) for s in gen, init, state do print(s) end end
for _, name in ipairs { "basic", "compositions", "filtering", "generators", "indexing", "operators", "reducing", "slicing", "stateful", "transformations" } do
  print("== " .. name)
  local f = assert(io.open("luafun/tests/" .. name .. ".lua"))
  local text = f:read("*a"):gsub("%-%-%[%[test.-%-%-test%]%]", "")
  f:close()
  local chunk, err = loadstring(text, "=" .. name)
  if not chunk then
    print(err)
  else
    setfenv(chunk, env)
    math.randomseed(1)
    print(pcall(chunk))
  end
end
print(fun.range(100):map(function(x) return x ^ 2 end):filter(function(x) return x % 3 == 0 end):take_n(10):foldl(function(a, b) return a + b end, 0))
for i = 1, 200 do
  local total = fun.zip(fun.range(i), fun.range(i):map(function(x) return x * 2 end)):map(function(a, b) return a * b end):sum()
  if i % 50 == 0 then print(i, total) end
end
local moses = require("moses")
print(moses.concat(moses.map({ 1, 2, 3 }, function(v) return v * 10 end), ","), moses.reduce(moses.range(1, 50), function(a, b) return a + b end))
print(moses.concat(moses.sort(moses.keys(moses.groupBy({ 1, 2, 3, 4 }, function(v) return v % 2 == 0 and "even" or "odd" end))), " "))
local class = require("middleclass")
local Point = class("Point")
function Point:initialize(x, y) self.x, self.y = x, y end
function Point.__add(a, b) return a.class(a.x + b.x, a.y + b.y) end
function Point.__eq(a, b) return a.x == b.x and a.y == b.y end
function Point.__lt(a, b) return a.x < b.x end
function Point:__tostring() return self.class.name .. "(" .. self.x .. ", " .. self.y .. ")" end
local Point3 = class("Point3", Point)
function Point3:initialize(x, y, z) Point.initialize(self, x, y) self.z = z or 0 end
local p = Point3(0, 0)
for i = 1, 500 do p = p + Point3(i, -i) end
print(p, p == Point3(125250, -125250), p < Point3(1e9, 0), Point3:isSubclassOf(Point), p:isInstanceOf(Point), tostring(Point3), pcall(function() return p < 5 end))
local serpent = require("serpent")
local value = { 1, "two", { x = 1 / 3, y = -1e100, [true] = "b" }, huge = math.huge, ["end"] = "keyword", text = "a\nb\0c" }
value.self = value
print(serpent.block(value, { sortkeys = true, comment = false }))
print(serpent.line(value, { sortkeys = true, comment = false, nocode = true }))
local ok, copy = serpent.load(serpent.dump(value, { sortkeys = true }), { safe = false })
print(ok, copy[3].x == 1 / 3, copy.self == copy, copy.text == value.text)
