-- A side trace keeps the frames that its parent has entered before the exit: it returns to them without a check, and a table that only exits need
-- is not made on either path, whichever of these frames has it.
jit.off(true)

local util, vmdef = require "jit.util", require "jit.vmdef"
-- Does a trace return below the frame that it starts in?
local function leaves_start(trace)
  for i = 1, util.traceinfo(trace).nins do
    local _, ot = util.traceir(trace, i)
    if ot and vmdef.irnames:sub(bit.rshift(ot, 8) * 6 + 1):find "^RETF" then return true end
  end
  return false
end

local function without_tables(f, n)
  jit.off()
  local expected = f(n)
  jit.on()
  jit.flush()
  jit.opt.start(3, "hotloop=10", "hotexit=5", "budget=0", "hottree=0")
  assert(f(n) == expected)
  collectgarbage()
  collectgarbage("stop")
  local before = collectgarbage("count")
  assert(f(n) == expected)
  local kilobytes = collectgarbage("count") - before
  collectgarbage("restart")
  local sides = 0
  for trace = 1, 100 do
    local info = util.traceinfo(trace)
    if info then
      assert(not leaves_start(trace), "a return below the start")
      sides = sides + (info.linktype == "root" and 1 or 0)
    end
  end
  assert(sides > 0, "no side trace")
  jit.flush()
  -- One table of each iteration would be more than fifty times as much.
  assert(kilobytes < 32, kilobytes)
end
jit.off(without_tables)

-- The exit is in a function that gets the table.
local function pick(v, i)
  if i % 2 == 0 then return v.x + 1 else return v.y - 1 end
end
without_tables(function(n)
  local sum = 0
  for i = 1, n do
    local v = { x = i, y = -i }
    sum = sum + pick(v, i) + v.x
  end
  return sum
end, 20000)

-- Two functions further up, one of which passes its varargs on.
local function deeper(v, ...) return pick(v, (...)) end
local function through(...) return (deeper(...)) end
without_tables(function(n)
  local sum = 0
  for i = 1, n do
    local v = { x = i, y = -i }
    sum = sum + through(v, i, "more") + v.x
  end
  return sum
end, 20000)

-- Under a protected call, and under a metamethod, whose results become a field and a condition.
without_tables(function(n)
  local sum = 0
  for i = 1, n do
    local v = { x = i, y = -i }
    local ok, r = pcall(pick, v, i)
    sum = sum + r + (ok and v.x or 0)
  end
  return sum
end, 20000)
local Vector = {}
Vector.__index = function(v, key) return pick(v, v.i) end
Vector.__lt = function(a, b) return pick(a, a.i) < pick(b, b.i) end
without_tables(function(n)
  local sum = 0
  for i = 1, n do
    local v = setmetatable({ x = i, y = -i, i = i }, Vector)
    sum = sum + v.any + v.x
    if v < v then sum = 0 end
  end
  return sum
end, 20000)

-- An iterator in Lua.
local function step(v, i)
  if i >= v.n then return nil end
  if i % 2 == 0 then return i + 1, v.x else return i + 1, v.y end
end
without_tables(function(n)
  local sum = 0
  local v = { n = n, x = 1, y = 2 }
  for i, x in step, v, 0 do
    local w = { i, x }
    sum = sum + pick({ x = w[2], y = -w[2] }, i) + w[1]
  end
  return sum
end, 20000)

jit.on(true)
