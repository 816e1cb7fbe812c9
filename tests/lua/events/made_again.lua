-- A table that the trace has not made, since only exits need it, is made by the exit. In the function of the whole tree the side trace after it has the
-- contents in registers, and no table is made on either path, nor where a function is called with it, or where it gets its metatable.
jit.off(true)

local function without_tables(f, n, expected)
  jit.flush()
  jit.opt.start(3, "hotloop=10", "hotexit=5", "budget=0", "hottree=0")
  assert(f(n) == expected)
  collectgarbage()
  collectgarbage("stop")
  local before = collectgarbage("count")
  assert(f(n) == expected)
  local kilobytes = collectgarbage("count") - before
  collectgarbage("restart")
  jit.flush()
  -- One table of each iteration would be more than fifty times as much.
  assert(kilobytes < 32, kilobytes)
end
jit.off(without_tables)

-- Fields.
without_tables(function(n)
  local sum, count = 0, 0
  for i = 1, n do
    local point = { x = i, y = 0.5, z = "z" }
    if i % 2 == 0 then sum = sum + point.x + #point.z else count = count + point.y end
  end
  return sum + count
end, 20000, 20000 * 10001 / 2 + 10000 + 5000)

-- Elements.
without_tables(function(n)
  local sum, count = 0, 0
  for i = 1, n do
    local list = { i, 0.5, i + 1 }
    if i % 2 == 0 then sum = sum + list[1] - list[3] else count = count + list[2] end
  end
  return sum + count
end, 20000, -10000 + 5000)

-- A metatable, and a method that goes on with another object.
local Vector = {}
Vector.__index = Vector
local function vector(x, y) return setmetatable({ x = x, y = y }, Vector) end
function Vector.__add(a, b) return vector(a.x + b.x, a.y + b.y) end
function Vector:half() return vector(self.x / 2, self.y / 2) end
without_tables(function(n)
  local sum, count, one = 0, 0, vector(1, 2)
  for i = 1, n do
    local v = vector(i, 0) + one
    if v.x % 2 == 0 then sum = sum + v:half().y else count = count + v.y end
  end
  return sum + count
end, 20000, 10000 + 20000)

-- What a side trace stores to the table is there afterwards, and the table is the same for all that have it.
local function kept(n)
  local last, sum = nil, 0
  for i = 1, n do
    local point = { x = i, y = 0 }
    local pair = { point, i }
    if i % 2 == 0 then
      point.y = i
      sum = sum + pair[1].y
      if i % 1000 == 0 then last = { point, pair } end
    end
  end
  assert(last[1] == last[2][1] and last[1].y == n)
  return sum
end
jit.flush()
jit.opt.start(3, "hotloop=10", "hotexit=5", "budget=0", "hottree=0")
for _ = 1, 2 do assert(kept(20000) == 10000 * 10001) end
