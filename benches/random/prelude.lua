-- What the random programs of speed.py use: values of many kinds, and functions over them.
local N = tonumber(arg[1])
local seed = 42
local function rnd(m) seed = seed * 16807 % 2147483647 return seed % m end
local i, n, k, st = 0, 0, 0, "abc"
local arr, list, map, buf = {}, {}, {}, {}
for j = 1, 40 do arr[j] = j % 3 == 0 and j * 0.5 or j end
local rec, keys = { x = 1, y = 2.5, z = 0, name = "nm", flag = false }, { "x", "y", "z" }
local recs = {}
for j = 1, 6 do recs[j] = { kind = j % 2 == 0 and "a" or "b", w = j } end
local mat = {}
for a = 1, 8 do mat[a] = {} for b = 1, 8 do mat[a][b] = a * b end end

local function va(...) return ... end
local function sum(...) local t = 0 for j = 1, select("#", ...) do t = t + (select(j, ...)) end return t end
local function gen(m) return coroutine.wrap(function() for j = 1, m do coroutine.yield(j) end end) end
local co = coroutine.wrap(function(a) local t = 0 while true do t = (t + a) % 77 a = coroutine.yield(t) end end)
local function counter() local c = 0 return function() c = c + 1 return c end end
local function tree(d) if d < 1 then return 1 end local t = { l = tree(d - 2), r = d } return t.l + t.r end
local function fib(d) if d < 2 then return d end return fib(d - 1) + fib(d - 2) end
local cache = {}
local function memo(x) local v = cache[x] if v then return v end v = x * 2 % 11 cache[x] = v return v end

local Vector = {}
Vector.__index = Vector
local function V(x, y) return setmetatable({ x = x, y = y }, Vector) end
function Vector.__add(a, b) return V(a.x + b.x, a.y + b.y) end
function Vector.__sub(a, b) return V(a.x - b.x, a.y) end
function Vector.__mul(a, b) return V(a.x * b.y, 1) end
function Vector.__eq(a, b) return a.x == b.x end
function Vector.__lt(a, b) return a.x < b.x end
function Vector.__le(a, b) return a.x <= b.x end
local computed = setmetatable({}, { __index = function(_, q) return type(q) == "number" and q or #q end })
local store = {}
local proxy = setmetatable({}, {
  __index = function(_, q) return store[q] or 0 end,
  __newindex = function(_, q, v) store[q] = v end,
})
local callable = setmetatable({ c = 1 }, { __call = function(self, a) self.c = self.c % 9 + 1 return a % 7 + self.c end })
local ffi = require "ffi"
local S, I = ffi.new "struct { int a; double b; }", ffi.new "int32_t[64]"

local Base = {}
Base.__index = Base
function Base:get() return self.v end
function Base:calc(a) return a + 1 end
function Base:val() return 1 end
function Base:set(a) self.v = a % 100 end
local objs, obj = {}
