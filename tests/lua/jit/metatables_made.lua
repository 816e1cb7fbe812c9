local s, shared = 0, { q = 5 }
for i = 1, 300 do
  local t = setmetatable({}, { __index = shared })
  local u = setmetatable({}, { __index = { q = i } })
  local w = setmetatable({ v = i }, { __index = function(_, k) return i end, __add = function(a, b) return a.v + i end, __call = function(_, x) return x + i end })
  local z = setmetatable({}, { __newindex = shared })
  z.r = i
  s = s + t.q + u.q + w.x + (w + 1) + w(2) + shared.r + (getmetatable(t).__index == shared and 1 or 0)
end
print(s)
local keep = {}
for i = 1, 300 do
  local eq = function(a, b) return a.k == b.k end
  local m1 = { __eq = eq, __lt = function(a, b) return a.k < b.k end }
  local m2 = { __eq = eq, __lt = m1.__lt }
  local m3 = { __eq = function() return true end }
  local a, b, c = setmetatable({ k = i % 3 }, m1), setmetatable({ k = i % 2 }, m2), setmetatable({}, m3)
  s = s + (a == b and 1 or 2) + (a == c and 10 or 20) + (a < b and 100 or 200)
  keep[i % 5 + 1] = a
end
print(s, keep[1] == keep[2], keep[1] < keep[1])
local function class(base) local c = {} c.__index = c return setmetatable(c, { __index = base, __call = function(cls, ...) local o = setmetatable({}, cls) o:init(...) return o end }) end
local Base = class() function Base:init(x) self.x = x end function Base:get() return self.x end
for i = 1, 200 do
  local D = class(Base)
  function D:get2() return self:get() * 2 end
  local o = D(i)
  s = s + o:get2() + o:get()
end
print(s)
