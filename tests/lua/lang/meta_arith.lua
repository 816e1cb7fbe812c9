-- Arithmetic and concatenation metamethods: operands, order, fallbacks, results of any kind.

local log = {}
local names = { __add = "+", __sub = "-", __mul = "*", __div = "/", __mod = "%", __pow = "^", __unm = "neg", __concat = ".." }
local function show(v) return type(v) == "table" and v.name or tostring(v) end
local mt = {}
for event, sign in pairs(names) do
  mt[event] = function(a, b, extra) return "(" .. show(a) .. sign .. show(b) .. ")" .. tostring(extra ~= nil and "extra" or "") end
end
local function new(name) return setmetatable({ name = name }, mt) end
local a, b = new "a", new "b"

print(a + b, a - b, a * b, a / b, a % b, a ^ b, -a, a .. b)
print(a + 1, 1 + a, a - 1, 1 - a, a * 2, 2 * a, a / 2, 2 / a, a % 2, 2 % a, a ^ 2, 2 ^ a)
print(a .. "s", "s" .. a, a .. 1, 1 .. a, a .. "x" .. "y", "x" .. a .. "y", "x" .. "y" .. a, 1 .. 2 .. a .. 3 .. 4)
print(a + "str", "str" + a, a + nil, a + true, pcall(function() return nil + a end))
print(-(a) .. "", pcall(function() return - -a end), a + b .. "", a .. b .. a)

-- The left operand's metamethod is used first; the right one's only if the left has none.
local left = setmetatable({}, { __add = function() return "left" end })
local right = setmetatable({}, { __add = function() return "right" end, __sub = function() return "right sub" end })
print(left + right, right + left, left - right, right - left, 1 + right, 1 - right, left + {}, {} + left)
print(pcall(function() return left * right end))
print(pcall(function() return {} - left end))

-- Results may be anything, several results become one, none becomes nil.
local any = setmetatable({}, {
  __add = function() return 1, 2, 3 end,
  __sub = function() end,
  __mul = function() return false end,
  __div = function(x) return x end,
  __unm = function(x, y) return rawequal(x, y) end,
  __concat = function() return {} end,
})
print(any + 1, any - 1, any * 1, rawequal(any / 1, any), -any, type(any .. 1))
print(#{ any + 1, any + 1 }, select("#", any - 1))

-- A metamethod that is not a function: a callable table; or something that cannot be called.
local callable = setmetatable({}, { __call = function(self, x, y) return "called " .. tostring(x == self) .. type(y) end })
print(setmetatable({}, { __add = callable }) + 5)
print(pcall(function() return setmetatable({}, { __add = 5 }) + 5 end))

-- Errors inside, with a level; arithmetic on what has a metatable without the event.
print(pcall(function() return setmetatable({}, { __add = function() error("inside", 0) end }) + 1 end))
print(pcall(function() return setmetatable({}, {}) + 1 end))
print(pcall(function() return 1 .. setmetatable({}, {}) end))
print(pcall(function() return -setmetatable({}, {}) end))

-- A small type that uses them all: exact fractions.
local Frac = {}
Frac.__index = Frac
local function gcd(x, y) while y ~= 0 do x, y = y, x % y end return math.abs(x) end
local function frac(n, d)
  d = d or 1
  if type(n) == "table" then return n end
  local g = gcd(n, d)
  if d < 0 then g = -g end
  return setmetatable({ n = n / g, d = d / g }, Frac)
end
function Frac.__add(x, y) x, y = frac(x), frac(y) return frac(x.n * y.d + y.n * x.d, x.d * y.d) end
function Frac.__sub(x, y) return x + -frac(y) end
function Frac.__mul(x, y) x, y = frac(x), frac(y) return frac(x.n * y.n, x.d * y.d) end
function Frac.__div(x, y) y = frac(y) return frac(x) * frac(y.d, y.n) end
function Frac.__unm(x) return frac(-x.n, x.d) end
function Frac.__pow(x, k) local r = frac(1) for _ = 1, k do r = r * x end return r end
function Frac.__mod(x, y) return x - y * math.floor(x.n / x.d / (y.n / y.d)) end
function Frac.__eq(x, y) return x.n == y.n and x.d == y.d end
function Frac.__lt(x, y) x, y = frac(x), frac(y) return x.n * y.d < y.n * x.d end
function Frac.__le(x, y) x, y = frac(x), frac(y) return x.n * y.d <= y.n * x.d end
function Frac.__tostring(x) return x.d == 1 and ("%d"):format(x.n) or ("%d/%d"):format(x.n, x.d) end
function Frac.__concat(x, y) return tostring(x) .. tostring(y) end
local half, third = frac(1, 2), frac(1, 3)
print(tostring(half + third), tostring(half - third), tostring(half * third), tostring(half / third), tostring(-half))
print(tostring(half ^ 5), tostring(frac(7, 2) % frac(2, 3)), half .. " and " .. third, 1 + half .. "", tostring(2 * third - 1))
print(half == frac(2, 4), half ~= third, half < third, half <= frac(3, 6), third < half, half > third, third >= half)
local harmonic = frac(0)
for i = 1, 12 do harmonic = harmonic + frac(1, i) end
print(tostring(harmonic))

-- Numbers and strings can have metamethods as well, but real arithmetic goes first.
debug.setmetatable(0, { __add = function() return "number add" end, __concat = function() return "number concat" end, __call = function(n, x) return n * x end })
print(1 + 1, 1 + {} == nil, 1 .. 2, (3)(4))
debug.setmetatable(0, nil)
local smt = getmetatable("")
smt.__add = function(x, y) return "sadd(" .. x .. "," .. y .. ")" end
smt.__unm = function(x) return "neg" .. x end
print("a" + "b", "1" + "2", "x" + 1, -"z", -"3")
smt.__add, smt.__unm = nil, nil
print(pcall(function() return "a" + 1 end))
print("ok")
