-- Objects with finalizers that are made faster than anything else: their finalizers keep pace, and memory stays small.
local buffer = require "string.buffer"
local function most(n, make)
  collectgarbage()
  local before, most = collectgarbage("count"), 0
  for i = 1, n do
    make(i)
    if i % 1000 == 0 then most = math.max(most, collectgarbage("count") - before) end
  end
  return most < 4096 or most
end

-- Buffers, which have a finalizer of their own.
local length = 0
print("buffers", most(300000, function(i)
  local b = buffer.new()
  b:put("x", i)
  length = length + #b:get()
end), length)

-- Userdata that own more than themselves.
local called = 0
print("userdata", most(100000, function()
  local p = newproxy(true)
  getmetatable(p).__gc = function() called = called + 1 end
end))
collectgarbage()
collectgarbage()
print("finalized", called)

-- Objects that come back when they are finalized.
local kept = {}
print("revived", most(50000, function(i)
  local p = newproxy(true)
  getmetatable(p).__gc = function(u) kept[i % 100] = u end
end))
