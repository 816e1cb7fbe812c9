local mt = {}
mt.__index = function(t, k) return k end
mt.__add = function(a, b) return 1 end
mt.__call = function(s, ...) return ... end
mt.__eq = function() return true end
mt.__lt = function() return false end
mt.__concat = function(a, b) return "c" end
mt.__newindex = function(t, k, v) rawset(t, k, v) end
local o, p = setmetatable({}, mt), setmetatable({}, mt)
local r = o.x .. o .. p
g = o + 1
local co = coroutine.wrap(function(...) for i = 1, 3 do coroutine.yield(i, ...) end end)
co(1)
co()
local class = {}
class.__index = class
function class:add(n) self.sum = (self.sum or 0) + n return self end
local c = setmetatable({}, class)
for i = 1, 40 do
  c:add(i)
  o[i] = i
  local s = "k" .. i
  o[s] = (o[s] == s) and #s or nil
end
return o(1, 2), o == p, o < p, r, o[1], o[g], c.sum, (function(...) return ... end)(1, 2, 3)
