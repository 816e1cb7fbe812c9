-- Errors in and around coroutines: dead ones, tracebacks, wrap's rethrow, debug access, cleanup by the collector.

-- An error kills the coroutine and is reported by resume.
local co = coroutine.create(function(x)
  coroutine.yield(x)
  local t = nil
  return t.field
end)
print(coroutine.resume(co, 1))
print(coroutine.resume(co))
print(coroutine.status(co), coroutine.resume(co))

-- Error objects pass unchanged; nil too.
local e = { "object" }
co = coroutine.create(error)
print(select(2, coroutine.resume(co, e)) == e)
print(coroutine.resume(coroutine.create(error)))
print(coroutine.resume(coroutine.create(function() error("at level 2", 2) end)))
print(coroutine.resume(coroutine.create(function() error("no position", 0) end)))
print(coroutine.resume(coroutine.create(function() return nosuch() end)))

-- wrap raises the error in the caller.
local gen = coroutine.wrap(function() coroutine.yield(1) error("from wrap", 0) end)
print(gen())
print(pcall(gen))
print(pcall(gen))
local thrown = { code = 1 }
print(select(2, pcall(coroutine.wrap(function() error(thrown) end))) == thrown)

-- pcall inside and outside.
co = coroutine.wrap(function()
  local ok, m = pcall(error, "inside", 0)
  coroutine.yield(tostring(ok) .. " " .. m)
  error("outside", 0)
end)
print(co())
print(pcall(co))
print(pcall(function()
  local c = coroutine.wrap(function() local d = coroutine.wrap(function() error("three deep", 0) end) d() end)
  c()
end))

-- An error after many yields, inside nested calls, with upvalues still reachable.
local state = {}
co = coroutine.create(function()
  local count = 0
  state.get = function() return count end
  local function work(n)
    for i = 1, n do
      count = count + 1
      coroutine.yield(count)
      if i > 3 then error("stop at " .. count, 0) end
    end
  end
  work(10)
end)
local last
repeat
  local ok, v = coroutine.resume(co)
  last = v
until not ok
print(last, state.get(), coroutine.status(co))

-- The stack of a suspended or dead coroutine can be looked at.
co = coroutine.create(function(a)
  local b = a * 2
  coroutine.yield(b)
  error("dead end")
end)
coroutine.resume(co, 21)
print((debug.traceback(co):gsub("0x%x+", "ADDR")))
print((debug.traceback(co, "message", 1):gsub("0x%x+", "ADDR")))
local info = debug.getinfo(co, 1, "lS")
print(info.currentline, info.short_src, debug.getlocal(co, 1, 1))
print(debug.getlocal(co, 1, 2))
coroutine.resume(co)
print((debug.traceback(co):gsub("0x%x+", "ADDR")))
print((debug.traceback(coroutine.create(print))))

-- Resuming what cannot be resumed.
print(pcall(coroutine.resume, 5))
print(pcall(coroutine.resume, nil))
print(pcall(coroutine.status, "x"))
print(pcall(coroutine.create))
print(pcall(coroutine.wrap, "x"))
print(coroutine.resume(coroutine.wrap and coroutine.create(function() return coroutine.resume(coroutine.running()) end)))
local self_wrap
self_wrap = coroutine.wrap(function() return self_wrap() end)
print(pcall(self_wrap))
local a, b
a = coroutine.create(function() return coroutine.resume(b) end)
b = coroutine.create(function() return coroutine.resume(a) end)
print(coroutine.resume(a))

-- Unreachable suspended coroutines are collected, with what they hold.
local weak = setmetatable({}, { __mode = "v" })
do
  local c = coroutine.create(function()
    local big = {}
    weak.big = big
    coroutine.yield()
    return big
  end)
  coroutine.resume(c)
  weak.co = c
end
coroutine.wrap(function(...) return ... end)(1, 2, 3, 4, 5, 6, 7, 8)
co = nil
local function clear(...) local _1, _2, _3, _4, _5, _6, _7, _8 = ... return nil end
clear()
collectgarbage()
collectgarbage()
print(weak.co, weak.big)
for i = 1, 3000 do
  local c = coroutine.wrap(function(x) coroutine.yield(x) end)
  assert(c(i) == i)
end
collectgarbage()

-- A finalizer and a sort may use coroutines of their own.
local order = {}
local p = newproxy(true)
getmetatable(p).__gc = function()
  for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do order[#order + 1] = v end
end
p = nil
collectgarbage()
collectgarbage()
print(table.concat(order, " "))
local list = { 5, 2, 8, 1 }
table.sort(list, function(x, y)
  local less = coroutine.wrap(function() coroutine.yield(x < y) end)
  return less()
end)
print(table.concat(list, " "))
print("ok")
