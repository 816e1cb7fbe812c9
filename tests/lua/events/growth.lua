-- Runs a program at some size in a state of its own and prints what the compiler did: traces, recordings given up, exits to the
-- interpreter. The program is a file, or one of those below, which make `n` objects and do work that is proportional to `n`.
local counters = require("jit.util").counters
-- Taken literally, so that no clock decides.
jit.opt.start("hotloop=56", "hotexit=10", "budget=0")

local shapes = {}
-- One prototype, n closures that keep different numbers.
function shapes.closures_made(n)
  local s = 0
  for i = 1, n do
    local step = 0
    local function add(x) step = step + 1 return x + i end
    for k = 1, 20 do s = s + add(k) end
    assert(step == 20)
  end
  assert(s == 210 * n + 10 * n * (n + 1))
end
function shapes.coroutines_made(n)
  local s = 0
  for i = 1, n do
    local next = coroutine.wrap(function()
      for k = 1, 5 do coroutine.yield(k + i) end
      return 0
    end)
    for _ = 1, 6 do s = s + next() end
  end
  assert(s == 15 * n + 5 * n * (n + 1) / 2)
end
-- A class for each object, all with the same method.
function shapes.classes_made(n)
  local function area(self) return self.w * self.h end
  local s = 0
  for i = 1, n do
    local class = { area = area, ["name" .. i % 31] = i }
    class.__index = class
    local o = setmetatable({ w = i, h = 2 }, class)
    for _ = 1, 20 do s = s + o:area() end
  end
  assert(s == 20 * n * (n + 1))
end
-- A class for each object, with methods of its own, which are called in many places.
function shapes.methods_made(n)
  for _ = 1, n do
    local class = {}
    class.__index = class
    function class:get() return self.state end
    function class:add(k) self.state = self.state + k return self end
    local o = setmetatable({ state = 0 }, class)
    for _ = 1, 200 do
      local x = o:add(1):get() + o:add(2):get() - o:add(1):add(-2):get() + o:add(-1):get()
      local y = o:add(3):get() - o:add(-3):get() + o:add(2):add(-1):get() - o:add(-2):get()
      assert(x == 3 and y == 5 and o.state == 0)
    end
  end
end
-- Fields at other places in each table.
function shapes.fields_in_any_order(n)
  local s = 0
  for i = 1, n do
    local t = {}
    for k = 1, i % 7 do t["pad" .. k * i % 64] = k end
    t.x, t.y = i, 1
    for _ = 1, 20 do s = s + t.x * t.y end
  end
  assert(s == 10 * n * (n + 1))
end
function shapes.values_of_all_types(n)
  local values = { 1, "one", 1.5, {}, true, print, "2", -0.5, false }
  local count = 0
  for i = 1, n * 20 do
    local v = values[i % 9 + 1]
    if type(v) == "number" then count = count + (v < 1 and 1 or 2)
    elseif type(v) == "string" then count = count + #v
    elseif v == true or type(v) == "table" then count = count + 1 end
  end
  assert(count > 20 * n)
end
function shapes.arguments_of_any_number(n)
  local list = {}
  for i = 1, 12 do list[i] = i end
  local function sum(...)
    local s = 0
    for i = 1, select("#", ...) do s = s + (select(i, ...)) end
    return s
  end
  local s = 0
  for i = 1, n do for k = 1, 5 do s = s + sum(unpack(list, 1, (i + k) % 12)) end end
  assert(s > n)
end
function shapes.recursion_of_any_depth(n)
  local function depth(k) if k == 0 then return 0 end return 1 + depth(k - 1) end
  local s = 0
  for i = 1, n do s = s + depth(i % 40) end
  assert(s > n)
end
function shapes.some_calls_fail(n)
  local function halve(x) if x % 3 == 0 then error("three", 0) end return x / 2 end
  local failed = 0
  for i = 1, 9 * n do if not pcall(halve, i) then failed = failed + 1 end end
  assert(failed == 3 * n)
end
function shapes.keys_made(n)
  local t, s = {}, 0
  for i = 1, n do
    local key = "key" .. i
    t[key] = i
    for _ = 1, 10 do s = s + t[key] end
  end
  assert(s == 5 * n * (n + 1))
end
-- What must be found: each of n functions gets a trace of its own.
function shapes.functions_made(n)
  local s = 0
  for i = 1, n do
    local f = assert(loadstring("local s = 0 for i = 1, 200 do s = s + i end return s + " .. i))
    s = s + f()
  end
  assert(s == 20100 * n + n * (n + 1) / 2)
end

local name, size = arg[1], arg[2]
local run = shapes[name]
if run then
  run(tonumber(size))
else
  local program = assert(loadfile(name))
  arg = { [0] = name, size }
  local print_, write = print, io.write
  print, io.write = function() end, function() end
  program()
  print, io.write = print_, write
end
local c = counters()
print(c.closed, c.aborted, c.deopt)
