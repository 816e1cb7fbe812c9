-- Prints every start, stop, abort and flush: machine code and evaluator give the same.
local util = require "jit.util"
jit.off(true)

-- What became hot depends on counters that places share, so there are few places.
local function place(func, pc)
  local info = util.funcinfo(func, pc)
  return info.currentline or "builtin"
end
local line
local function trace(what, number, func, pc, a, b)
  if what == "start" then
    io.write("start ", number, " at ", place(func, pc), a and " from " .. a .. "/" .. b or "", "\n")
  elseif what == "stop" then
    local i = util.traceinfo(number)
    io.write("stop ", number, " ", i.linktype, " ", i.link, ", exits: ", i.nexit, ", instructions: ", i.nins, "\n")
  elseif what == "abort" then
    io.write("abort ", number, " at ", place(func, pc), ": ", tostring(a), "\n")
  else
    io.write(what, "\n")
  end
end
jit.off(trace)
jit.off(place)

local function branches(n)
  local a, b, c = 0, 0, 0
  for i = 1, n do
    if i % 7 == 0 then a = a + 1 elseif i % 3 == 0 then b = b + 1 else c = c + i end
  end
  return a + b + c
end
local function types(list)
  local sum = 0
  for i = 1, #list do sum = sum + list[i] end
  return sum
end
local function nested(n)
  local sum = 0
  for i = 1, n do
    for j = 1, i do sum = sum + j % 3 end
  end
  return sum
end
local function overflow(n)
  local x = 1
  for i = 1, n do x = x + 2 ^ 24 * i end
  local y = 2 ^ 31 - 100
  for i = 1, n do y = y + 1 end
  return x + y
end
local function objects(n)
  local p = { x = 0, y = 0 }
  for i = 1, n do
    local q = { x = p.x + i, y = p.y - i }
    if i % 10 == 0 then q.x = q.x + 0.5 end
    p = q
  end
  return p.x + p.y
end
local function text(n)
  local s, count = "", 0
  for i = 1, n do
    s = s .. (i % 2 == 0 and "a" or "b")
    if #s > 20 then s = "" count = count + 1 end
  end
  return count .. s
end
local function closures(n)
  for i = 1, n do local f = function() return i end end
  return n
end

local ints, mixed = {}, {}
for i = 1, 300 do
  ints[i], mixed[i] = i, i % 4 == 0 and i + 0.5 or i
end
jit.attach(trace, "trace")
for _, case in ipairs { { branches, 500 }, { types, ints }, { types, mixed }, { nested, 60 }, { overflow, 300 }, { objects, 400 },
  { text, 400 }, { closures, 200 } } do
  local before = util.counters().deopt
  io.write("result ", tostring(case[1](case[2])), "\n")
  io.write("exits ", util.counters().deopt - before, "\n")
end
jit.flush()
io.write("result ", branches(500), "\n")
