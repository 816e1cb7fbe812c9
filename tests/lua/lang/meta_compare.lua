-- __eq, __lt, __le: which values ask for them, negation, the fallback of <= to not >.

local function vec(v, mt) return setmetatable({ v = v }, mt) end

-- __lt and __le.
local calls = {}
local M = {
  __lt = function(a, b) calls[#calls + 1] = "lt" return a.v < b.v end,
  __le = function(a, b) calls[#calls + 1] = "le" return a.v <= b.v end,
  __eq = function(a, b) calls[#calls + 1] = "eq" return a.v == b.v end,
}
local one, two, uno = vec(1, M), vec(2, M), vec(1, M)
print(one < two, two < one, one <= two, one <= uno, two <= one, one > two, one >= two, two >= one)
print(not (one < two), not (one <= two), one == uno, one ~= uno, one == two, one ~= two, one == one)
print(table.concat(calls, " "))

-- Without __le, <= asks __lt with the operands swapped and negates.
local N = { __lt = function(a, b) calls[#calls + 1] = a.v .. "<" .. b.v return a.v < b.v end }
calls = {}
local x, y = vec(1, N), vec(2, N)
print(x <= y, y <= x, x <= x, x >= y, y >= x)
print(table.concat(calls, " "))

-- Results become booleans.
local R = { __lt = function(a, b) return a.v end, __le = function() return nil end, __eq = function() return 1 end }
local r, s = vec("yes", R), vec(nil, R)
print(r < s, s < r, r <= s, r == s, r ~= s, not (r < s))
if r < s then print("truthy lt") end
if not (s < r) then print("nil is false") end
if r <= s then print("no") else print("le nil") end
while r ~= s do error("no") end

-- __eq: only for two tables (or two userdata), not the same object, with the same metamethod.
local e1 = { __eq = function() return true end }
local e2 = { __eq = function() return true end }
print(vec(1, e1) == vec(2, e1), vec(1, e1) == vec(1, e2), vec(1, e1) == {}, vec(1, e1) == 1, 1 == vec(1, e1), vec(1, e1) == nil)
print(vec(1, e1) ~= vec(2, e1), rawequal(vec(1, e1), vec(2, e1)))
local shared = e1.__eq
print(vec(1, { __eq = shared }) == vec(2, { __eq = shared }))
local u1, u2 = newproxy(true), newproxy(true)
getmetatable(u1).__eq = shared
getmetatable(u2).__eq = shared
print(u1 == u2, u1 == u1, u1 == vec(1, e1))
local key = setmetatable({}, e1)
local set = { [key] = "found" }
print(set[key], set[setmetatable({}, e1)])

-- Ordering needs the same metamethod on both; other pairs are errors.
local l1 = { __lt = function() return true end }
local l2 = { __lt = function() return true end }
for i, f in ipairs {
  function() return vec(1, l1) < vec(1, l2) end,
  function() return vec(1, l1) < {} end,
  function() return {} < vec(1, l1) end,
  function() return vec(1, l1) < 1 end,
  function() return 1 < vec(1, l1) end,
  function() return {} < {} end,
  function() return {} <= {} end,
  function() return print < print end,
  function() return nil < 1 end,
  function() return 1 < nil end,
  function() return 1 <= "1" end,
  function() return "1" <= 1 end,
  function() return true < false end,
  function() return nil > nil end,
  function() return {} >= 1 end,
  function() return "a" < {} end,
  function() return u1 < u2 end,
  function() local a, b = 1, {} return a < b end,
} do
  print(i, pcall(f))
end

-- Chains and sorts.
local list = {}
for i = 1, 20 do list[i] = vec(i * 7 % 20, M) end
table.sort(list)
local out = {}
for i, v in ipairs(list) do out[i] = v.v end
print(table.concat(out, " "))
table.sort(list, function(p, q) return p > q end)
print(list[1].v, list[20].v)
local function max(first, ...)
  for i = 1, select("#", ...) do
    local v = (select(i, ...))
    if v > first then first = v end
  end
  return first
end
print(max(vec(3, M), vec(9, M), vec(4, M)).v)

-- Sets as in the book: <= is subset.
local Set = {}
local function set_of(...)
  local o = setmetatable({}, Set)
  for _, v in ipairs { ... } do o[v] = true end
  return o
end
Set.__le = function(a, b)
  for k in pairs(a) do if not b[k] then return false end end
  return true
end
Set.__lt = function(a, b) return a <= b and not (b <= a) end
Set.__eq = function(a, b) return a <= b and b <= a end
local s1, s2 = set_of(1, 2), set_of(1, 2, 3)
print(s1 <= s2, s1 < s2, s1 >= s2, s1 == s2, s1 == set_of(2, 1), s2 > s1, set_of() < s1)
print(pcall(function() return s1 < setmetatable({}, { __lt = function() error("mine", 0) end }) end))
print("ok")
