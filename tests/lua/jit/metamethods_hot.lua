-- Metamethods of every kind called from hot loops.

-- Defaults by function and by table, chains, counters.
local misses = 0
local default = setmetatable({ 1, 2, 3 }, { __index = function(_, k) misses = misses + 1 return k * 10 end })
local sum = 0
for i = 1, 1000 do sum = sum + default[i % 6 + 1] end
print(sum, misses)
local chain = { deep = 5, [7] = "seven" }
for i = 1, 5 do chain = setmetatable({ ["level" .. i] = i }, { __index = chain }) end
sum = 0
for i = 1, 1000 do sum = sum + chain.deep + chain["level" .. i % 5 + 1] + (chain.none and 1 or 0) + #chain[7] end
print(sum)

-- A proxy around an array; a table with lazy fields.
local data = {}
for i = 1, 100 do data[i] = i end
local proxy = setmetatable({}, { __index = data, __newindex = data })
for i = 1, 100 do proxy[i] = proxy[i] * 2 end
for i = 101, 200 do proxy[i] = i end
print(#data, data[50], data[150], rawget(proxy, 1))
local lazy = setmetatable({}, { __index = function(t, k) local v = k * k rawset(t, k, v) return v end })
sum = 0
for i = 1, 2000 do sum = sum + lazy[i % 40] end
print(sum)

-- Vectors with all arithmetic.
local V = {}
V.__index = V
local function vec(x, y) return setmetatable({ x = x, y = y }, V) end
V.__add = function(a, b) return vec(a.x + b.x, a.y + b.y) end
V.__sub = function(a, b) return vec(a.x - b.x, a.y - b.y) end
V.__mul = function(a, b) if type(a) == "number" then return vec(a * b.x, a * b.y) end if type(b) == "number" then return vec(a.x * b, a.y * b) end return a.x * b.x + a.y * b.y end
V.__div = function(a, k) return vec(a.x / k, a.y / k) end
V.__mod = function(a, k) return vec(a.x % k, a.y % k) end
V.__pow = function(a, k) return (a * a) ^ (k / 2) end
V.__unm = function(a) return vec(-a.x, -a.y) end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end
V.__lt = function(a, b) return a * a < b * b end
V.__le = function(a, b) return not (b < a) end
V.__concat = function(a, b) return tostring(a) .. tostring(b) end
V.__tostring = function(a) return "(" .. a.x .. "," .. a.y .. ")" end
V.__call = function(a, k) return k == 1 and a.x or a.y end
local acc, dots, less, equal, calls = vec(0, 0), 0, 0, 0, 0
for i = 1, 1500 do
  local v = vec(i, -i)
  acc = (acc + v * 2 - v / 2) % 1000
  acc = -acc + 3 * vec(1, 1)
  dots = (dots + acc * v) % 100003
  if acc < v then less = less + 1 end
  if acc <= v then less = less + 1000 end
  if acc == v or -acc == -acc then equal = equal + 1 end
  calls = calls + acc(1) + acc(2)
end
print(tostring(acc), dots, less, equal, calls, acc .. vec(1, 2), string.format("%.3f", vec(3, 4) ^ 2))

-- Comparison fallbacks and results that are not booleans.
local N = { __lt = function(a, b) return a.v < b.v and "yes" or nil end }
local one, two = setmetatable({ v = 1 }, N), setmetatable({ v = 2 }, N)
local c = 0
for i = 1, 600 do
  if one < two then c = c + 1 end
  if one <= two then c = c + 10 end
  if two <= one then c = c + 100 end
  if not (two < one) then c = c + 1000 end
end
print(c)

-- __call chains, __call as iterator, callable objects kept in fields.
local Counter = { __call = function(self) self.n = self.n + 1 if self.n <= self.limit then return self.n end end }
sum = 0
for round = 1, 30 do for v in setmetatable({ n = 0, limit = round }, Counter) do sum = sum + v end end
print(sum)
local obj = { action = setmetatable({}, { __call = function(_, o, x) return o.base + x end }), base = 100 }
sum = 0
for i = 1, 500 do sum = sum + obj:action(i) end
print(sum)

-- __len of userdata, __index of userdata, __newindex by function.
local u = newproxy(true)
local backing = {}
local um = getmetatable(u)
um.__len = function() return #backing end
um.__index = function(_, k) return backing[k] end
um.__newindex = function(_, k, v) backing[k] = v end
for i = 1, 300 do u[#u + 1] = i end
sum = 0
for i = 1, #u do sum = sum + u[i] end
print(#u, sum)

-- __concat in a growing chain, __tostring through tostring and format.
local tag = setmetatable({}, { __concat = function(a, b) return (type(a) == "table" and "<t>" or a) .. (type(b) == "table" and "<t>" or b) end, __tostring = function() return "TAG" end })
local len = 0
for i = 1, 300 do len = len + #(tag .. i) + #(i .. tag) + #("a" .. "b" .. tag .. "c" .. i) + #tostring(tag) + #string.format("%s%5s", tag, i) end
print(len)
print("ok")
