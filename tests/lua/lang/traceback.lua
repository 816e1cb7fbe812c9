-- debug.traceback: how each kind of frame is written, levels, messages, long stacks, coroutines.

local function clean(s)
  return (s:gsub("0x%x+", "ADDR"):gsub("builtin#%d+", "builtin#N"))
end
-- The last line, of the program that runs the chunk, is cut off.
local function show(s)
  print((clean(s):gsub("\n\t%[C%]: at ADDR$", "")))
end

local function plain()
  local t = debug.traceback("plain")
  return t
end
show(plain())

-- Names: locals, globals, fields, methods, upvalues, anonymous functions, main chunk.
local function deepest() local t = debug.traceback("names") return t end
local up = function() local t = deepest() return t end
function global_function() local t = up() return t end
local holder = {}
function holder.field() local t = global_function() return t end
function holder:method() local t = holder.field() return t end
local anon = (function() local t = holder:method() return t end)
show((function() local t = anon() return t end)())

-- C functions on the way: pcall, sort, gsub.
local result
pcall(function() result = debug.traceback("in pcall") end)
show(result)
table.sort({ 2, 1 }, function(a, b) result = debug.traceback("in sort") return a < b end)
show(result)
string.gsub("x", "x", function() result = debug.traceback("in gsub") end)
show(result)

-- Metamethods and iterators.
local mt = setmetatable({}, {
  __index = function() local t = debug.traceback("in index") return t end,
  __add = function() local t = debug.traceback("in add") return t end,
})
show(mt.x)
show(mt + 1)
for t in function(_, c) if not c then local r = debug.traceback("in iterator") return r end end do show(t) end

-- Tail calls leave no frame.
local function tail_target() local t = debug.traceback("tail") return t end
local function tail_caller() return tail_target() end
show(tail_caller())

-- Levels and messages.
local function leveled(l) local t = debug.traceback("level " .. tostring(l), l) return t end
for _, l in ipairs { 0, 1, 2 } do show(leveled(l)) end
show(debug.traceback(5))
print(debug.traceback(nil) == nil, type(debug.traceback({})), debug.traceback(true), debug.traceback(coroutine.create(print), nil, 1))
print((debug.traceback("far", 100)))
show(debug.traceback("", 1))
print((debug.traceback()):match("^[^\n]*"))
print(debug.traceback("multi\nline"):match("^multi\nline\nstack traceback:\n") ~= nil)

-- More than 22 levels are shortened in the middle.
local function recurse(n)
  if n == 0 then local t = debug.traceback("long") return t end
  local t = recurse(n - 1)
  return t
end
show(recurse(5))
show(coroutine.wrap(recurse)(40))
local _, newlines = coroutine.wrap(recurse)(1000):gsub("\n", "")
print(newlines)

-- As a handler.
local function thrower() local x = nil; return x.y end
local function middle() thrower() return 1 end
local ok, trace = xpcall(middle, debug.traceback)
show(trace)
ok, trace = xpcall(function() error({ "not a string" }) end, debug.traceback)
print(type(trace))
ok, trace = xpcall(function() error("level two", 2) end, function(m) return debug.traceback("handler: " .. m, 2) end)
show(trace)
ok, trace = xpcall(string.rep, debug.traceback)
show(trace)
ok, trace = xpcall(nil, debug.traceback)
show(trace)
ok, trace = xpcall(loadstring("local function inner() error('chunk error') end inner()", "=chunk"), debug.traceback)
show(trace)

-- Coroutines.
local co = coroutine.create(function(a)
  local function in_co() coroutine.yield() end
  in_co()
  return a
end)
show(debug.traceback(co))
coroutine.resume(co, 1)
show(debug.traceback(co))
show(debug.traceback(co, "with message"))
show(debug.traceback(co, "level 1", 1))
coroutine.resume(co)
show(debug.traceback(co, "finished"))
show(coroutine.wrap(function() local t = debug.traceback("inside") return t end)())
print("ok")
