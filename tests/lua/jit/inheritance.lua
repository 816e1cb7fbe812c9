-- Method calls and inheritance in hot loops.

local function class(parent)
  local c = setmetatable({}, { __index = parent })
  c.__index = c
  c.super = parent
  function c.new(...)
    local o = setmetatable({}, c)
    if o.init then o:init(...) end
    return o
  end
  return c
end

local Animal = class()
function Animal:init(name, legs) self.name, self.legs, self.steps = name, legs, 0 end
function Animal:walk(n) self.steps = self.steps + n * self.legs return self end
function Animal:sound() return "..." end
function Animal:speak() return self.name .. ":" .. self:sound() end
local Dog = class(Animal)
function Dog:init(name) Animal.init(self, name, 4) end
function Dog:sound() return "woof" end
local Puppy = class(Dog)
function Puppy:sound() return Dog.sound(self):sub(1, 2) .. "!" end
function Puppy:walk(n) return Dog.walk(self, n / 2) end
local Bird = class(Animal)
function Bird:init(name) self.super.init(self, name, 2) self.wings = 2 end
function Bird:walk(n) self.steps = self.steps + 1 return self end

-- One class, then several, in one hot call.
local zoo = {}
for i = 1, 200 do zoo[i] = (i % 4 == 0 and Puppy or i % 4 == 1 and Dog or i % 4 == 2 and Bird or Animal).new("a" .. i, 3) end
local length = 0
for round = 1, 10 do
  for i = 1, #zoo do
    local a = zoo[i]
    length = length + #a:walk(round):speak()
  end
end
local steps = 0
for i = 1, #zoo do steps = steps + zoo[i].steps end
print(length, steps)
local dogs = 0
for i = 1, 200 do
  local d = Dog.new("d")
  for _ = 1, 10 do d:walk(i) end
  dogs = dogs + d.steps
end
print(dogs)

-- Deep inheritance.
local c = Animal
for i = 1, 8 do
  local p = c
  c = class(p)
  c["m" .. i] = function(self) return self.steps + i end
end
local deep = c.new("deep", 2)
local total = 0
for i = 1, 500 do
  deep:walk(1)
  total = total + deep:m1() + deep:m8() + #deep:sound()
end
print(total)

-- A method is added, overridden on the object, removed, replaced in the parent.
local p = Puppy.new("p")
local said = {}
for i = 1, 600 do
  if i == 100 then p.sound = function() return "own" end end
  if i == 200 then p.sound = nil end
  if i == 300 then function Dog:sound() return "WOOF" end end
  if i == 400 then Puppy.sound = nil end
  if i == 500 then Dog.sound = nil end
  local s = p:speak()
  if said[#said] ~= s then said[#said + 1] = s end
end
print(table.concat(said, " "))

-- Getters and setters by functions, private state by closures.
local Point = {}
local getters = { r = function(o) return math.sqrt(o.x * o.x + o.y * o.y) end, sum = function(o) return o.x + o.y end }
local setters = { sum = function(o, v) rawset(o, "x", v - o.y) end }
local pmt = {
  __index = function(o, k) local g = getters[k] if g then return g(o) end return Point[k] end,
  __newindex = function(o, k, v) local s = setters[k] if s then s(o, v) else rawset(o, k, v) end end,
}
function Point:scale(k) self.x, self.y = self.x * k, self.y * k return self end
local pt = setmetatable({ x = 3, y = 4 }, pmt)
local rs = 0
for i = 1, 500 do
  rs = rs + pt.r + pt.sum
  pt.sum = i
  if i % 100 == 0 then pt:scale(0.5) end
  pt.extra = i
end
print(string.format("%.6f %g %g %g", rs, pt.x, pt.y, pt.extra))
local function Stack()
  local items, n = {}, 0
  local self = {}
  function self.push(v) n = n + 1 items[n] = v return self end
  function self.pop() local v = items[n] items[n] = nil n = n - 1 return v end
  function self.size() return n end
  return self
end
local st, popped = Stack(), 0
for i = 1, 1000 do
  st.push(i).push(i * 2)
  if i % 3 == 0 then popped = popped + st.pop() + st.pop() + st.pop() end
end
print(st.size(), popped)

-- A linked structure of objects walked by methods; visitor with double dispatch.
local Num, Add, Mul = class(), class(), class()
function Num:init(v) self.v = v end
function Add:init(l, r) self.l, self.r = l, r end
Mul.init = Add.init
function Num:eval() return self.v end
function Add:eval() return self.l:eval() + self.r:eval() end
function Mul:eval() return self.l:eval() * self.r:eval() % 1009 end
function Num:accept(visitor) return visitor:num(self) end
function Add:accept(visitor) return visitor:add(self) end
function Mul:accept(visitor) return visitor:mul(self) end
local Show = {}
function Show:num(n) return tostring(n.v) end
function Show:add(n) return "(" .. n.l:accept(self) .. "+" .. n.r:accept(self) .. ")" end
function Show:mul(n) return n.l:accept(self) .. "*" .. n.r:accept(self) end
local expr = Num.new(1)
for i = 2, 12 do expr = (i % 3 == 0 and Mul or Add).new(expr, Num.new(i)) end
local value, chars = 0, 0
for i = 1, 200 do
  value = value + expr:eval()
  chars = chars + #expr:accept(Show)
end
print(value, chars, expr:accept(Show))
print("ok")
