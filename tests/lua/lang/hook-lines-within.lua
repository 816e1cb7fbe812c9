-- Line events around what functions in C call, and around coroutines: who goes on in the same line has no new event.
local log = {}
local function note(e, l) log[#log + 1] = l end
local co = coroutine.create(function()
  local a = 1
  coroutine.yield() local b = 2 b = 3
  return a
end)
debug.sethook(note, "l")
coroutine.resume(co) local x = 1 x = 2
coroutine.resume(co) local y = 1 y = 2
local s = ("abc"):gsub(".", function(c)
  return c .. c end) local z = 1 z = 2
table.sort({3, 1, 2}, function(a, b) return a < b end) local q = 1
pcall(function() error("x") end) local w = 1 w = 3
local g = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
for v in g do local u = v u = u + 1 end
local inner = coroutine.wrap(function()
  local o = coroutine.wrap(function() coroutine.yield(1) end) o() o() local p = 1
  coroutine.yield(2) end) inner() inner() local e = 2
setmetatable({}, {__index = function(t, k) return k end}).x = 1 local n = 2
local tt = setmetatable({}, {__index = function(t, k)
 return k end}) local k = tt.x k = tt.y
debug.sethook()
print(table.concat(log, " "))
