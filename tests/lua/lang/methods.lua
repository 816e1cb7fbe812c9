-- Methods, classes by metatables, inheritance, and calls in all their written forms.

local Account = {}
Account.__index = Account

function Account.new(balance) return setmetatable({ balance = balance or 0 }, Account) end

function Account:deposit(v)
  self.balance = self.balance + v
  return self
end

function Account:get(...) return self.balance, ... end

local a = Account.new(10)
print(a:deposit(5):deposit(7):get("x", "y"))
print(a.get(a), Account.get(a), a.deposit(a, 1) == a, a.balance)
print(rawget(a, "deposit"), a.deposit == Account.deposit)

-- One level down, with an overridden method that calls its parent's.
local Saver = setmetatable({}, { __index = Account })
Saver.__index = Saver
function Saver.new(balance, rate)
  local self = Account.new(balance)
  self.rate = rate
  return setmetatable(self, Saver)
end
function Saver:deposit(v)
  Account.deposit(self, v * (1 + self.rate))
  self.count = (self.count or 0) + 1
  return self
end
local s = Saver.new(100, 0.5)
print(s:deposit(10):deposit(20):get(), s.count, getmetatable(s) == Saver)

-- Three levels by functions.
local Base = {}
function Base.new(class, o)
  o = o or {}
  class.__index = class
  return setmetatable(o, class)
end
function Base:name() return "base" end
function Base:describe() return self:name() .. "/" .. (self.tag or "-") end
local Mid = Base:new { tag = "mid" }
function Mid:name() return "mid of " .. Base.name(self) end
local Leaf = Mid:new()
function Leaf:name() return "leaf of " .. Mid.name(self) end
print(Base:new():describe(), Mid:new():describe(), Leaf:new():describe(), Leaf:new({ tag = "own" }):describe())

-- Calls without parentheses, with strings and tables, chained.
local function id(...) return ... end
print(id "text", id [[long]], #id { 1, 2 }, id { x = 5 }.x, type(id), ("x"):rep(3), ("%d"):format(7))
local obj = { v = 1 }
function obj:add(t) self.v = self.v + (type(t) == "table" and t[1] or #t) return self end
print(obj:add { 10 }:add "four":add [[x]].v)
local curried = function(x) return function(y) return function(z) return x .. y .. z end end end
print(curried "a" "b" "c", curried(1)(2)(3))
print(({ f = function(self) return self.g end, g = 9 }):f(), (function() return 3 end)())

-- Strings have methods through their metatable; numbers do not.
local str = "hello"
print(str:len(), str:upper(), str:sub(2, 3), str:byte(1), ("x"):len(), #str:rep(3), str.len(str), str["upper"](str))
print(str.x, pcall(function() return str.x.y end))
print(pcall(function() return (5):foo() end))
string.shout = function(v) return v:upper() .. "!" end
print(str:shout())
string.shout = nil

-- self is evaluated once, before the arguments.
local log = {}
local function see(v)
  log[#log + 1] = type(v) == "table" and "obj" or v
  return v
end
see({ m = function(_, x, y) return x + y end }):m(see(1), see(2))
print(table.concat(log, " "))

-- Methods that replace themselves, that are added later, and that are data.
local lazy = {}
function lazy:value()
  self.value = function() return "cached" end
  return "computed"
end
print(lazy:value(), lazy:value(), lazy.value())
Account.late = function(self) return "late " .. self.balance end
print(a:late(), s:late())
a.get = function() return "own" end
print(a:get(), s:get())
a.get = nil
print((a:get()))

-- Multiple inheritance by a searching __index, with caching.
local function search(k, parents)
  for i = 1, #parents do
    local v = parents[i][k]
    if v ~= nil then return v end
  end
end
local Named, Aged = { hello = function(o) return "I am " .. o.name end }, { age = function(o) return o.years end }
local searches = 0
local Both = {}
Both.__index = function(o, k)
  searches = searches + 1
  local v = search(k, { Named, Aged })
  o[k] = v
  return v
end
local both = setmetatable({ name = "Ada", years = 36 }, Both)
print(both:hello(), both:age(), both:hello(), both:age(), searches)

-- Errors name the method.
print(pcall(function() a:nothing() end))
print(pcall(function() a.balance:go() end))
print(pcall(function() nosuch:go() end))
print(pcall(function() a.x.y() end))
print(pcall(function() a.x.y = 1 end))
print("ok")
