-- A store to a field that traces take for a constant: only these traces are invalid. Others stay and are entered as before, and those that are
-- linked to an invalid one continue where it started, later in the trace that takes its place.
local counters = require("jit.util").counters
jit.off(true)
jit.opt.start("hotloop=20", "hotexit=5")

-- What `f` adds to counters: traces that became invalid, flushes, recordings.
local function change(f)
  local before = counters()
  f()
  local after = counters()
  return after.invalidated - before.invalidated, after.flushed - before.flushed, after.closed - before.closed
end
-- Calls `f`; it makes no trace.
local function makes_none(f, ...)
  local before, result = counters().closed, f(...)
  assert(counters().closed == before, "a trace is made again")
  return result
end

-- Of two loops that use different modules one is invalid.
local module, other = { double = function(x) return 2 * x end }, { triple = function(x) return 3 * x end }
local function doubles(n)
  local s = 0
  for i = 1, n do s = s + module.double(i) end
  return s
end
local function triples(n)
  local s = 0
  for i = 1, n do s = s + other.triple(i) end
  return s
end
assert(doubles(200) == 40200 and triples(200) == 60300)
local invalid, flushed = change(function() module.double = function(x) return 4 * x end end)
assert(invalid == 1 and flushed == 0, invalid)
assert(makes_none(triples, 200) == 60300)
assert(doubles(200) == 80400)
makes_none(doubles, 200)
-- The field is a variable from now on.
assert(change(function() module.double = function(x) return 5 * x end end) == 0)
assert(doubles(200) == 100500)

-- An invalid inner loop, to which traces of the loop around it are linked.
local inner = { step = function(x) return x + 1 end }
local function nested(n)
  local s = 0
  for i = 1, n do
    local x = 0
    while x < 10 + i % 3 do x = inner.step(x) end
    s = s + x
  end
  return s
end
assert(nested(300) == 3300)
nested(300)
local function doubled(x) return x + 2 end
assert(change(function() inner.step = doubled end) >= 1)
assert(nested(300) == 3400)
nested(300)
makes_none(nested, 300)
assert(nested(300) == 3400)

-- A side trace alone: its exit gets another one.
local side = { add = function(s, i) return s + i end }
local function branches(n)
  local s = 0
  for i = 1, n do
    if i % 4 == 0 then s = side.add(s, i) else s = s + 1 end
  end
  return s
end
assert(branches(400) == 20500)
invalid = change(function() side.add = function(s, i) return s - i end end)
assert(invalid == 1, invalid)
local _, _, closed = change(function() assert(branches(400) == -19900) end)
assert(closed == 1, closed)
makes_none(branches, 400)

-- An invalid side trace whose function is collected: its exit gets another one as before.
local loaded = { plus = loadstring("return function(s, i) return s + i end")() }
local function collected(n)
  local s = 0
  for i = 1, n do
    if i % 4 == 0 then s = loaded.plus(s, i) else s = s + 1 end
  end
  return s
end
assert(collected(400) == 20500)
invalid = change(function() loaded.plus = loadstring("return function(s, i) return s - i end")() end)
assert(invalid == 1, invalid)
collectgarbage() collectgarbage()
_, _, closed = change(function() assert(collected(400) == -19900) end)
assert(closed == 1, closed)

-- The function of a tree.
jit.opt.start("hottree=1")
local tree = { add = function(s, i) return s + i end }
local function in_tree(n)
  local s = 0
  for i = 1, n do
    if i % 2 == 0 then s = tree.add(s, i) else s = s + 1 end
  end
  return s
end
local trees = counters().trees
assert(in_tree(10000) == 25010000)
assert(counters().trees > trees or counters().mcode == 0, "only machine code has trees")
tree.add = function(s, i) return s - i end
assert(in_tree(10000) == -25000000)
assert(in_tree(10000) == -25000000)
jit.opt.start(3, "hotloop=20", "hotexit=5")

-- A builtin that compiled code calls stores to the field that the code relies on.
local callback = { f = function(x) return x end }
local function replaced(s) callback.f = function(x) return x + #s end end
local function stores(n)
  local s = 0
  for i = 1, n do
    s = s + callback.f(i)
    string.gsub(i == n and "x" or "-", "x", replaced)
    s = s + callback.f(1)
  end
  return s
end
assert(stores(200) == 20100 + 201)
assert(stores(200) == 20100 + 200 * 2 + 200)

-- Classes: a method that is replaced, one that a class gets, another metatable of a class, and a recursive function.
local base = { name = function() return 1 end }
base.__index = base
local class = setmetatable({}, base)
class.__index = class
local object = setmetatable({}, class)
local function names(n)
  local s = 0
  for _ = 1, n do s = s + object:name() end
  return s
end
assert(names(100) == 100)
assert(change(function() base.name = function() return 2 end end) >= 1)
assert(names(100) == 200)
assert(change(function() class.name = function() return 3 end end) >= 1)
assert(names(100) == 300)
local recursive = { leaf = function() return 1 end }
local function depth(n) if n == 0 then return recursive.leaf() end return depth(n - 1) + 1 end
for _ = 1, 200 do assert(depth(20) == 21) end
recursive.leaf = function() return 5 end
for _ = 1, 200 do assert(depth(20) == 25) end

-- Stores to fields that no valid trace relies on do not count.
local many = {}
for i = 1, 6 do many["f" .. i] = function(x) return x + i end end
local function uses_many(n)
  local s = 0
  for _ = 1, n do s = many.f1(many.f2(many.f3(many.f4(many.f5(many.f6(s)))))) % 1000 end
  return s
end
uses_many(200)
for i = 1, 5 do
  invalid = change(function() many["f" .. i] = function(x) return x - i end end)
  assert(invalid == (i == 1 and 1 or 0), invalid)
end
uses_many(200)
assert(change(function() many.f6 = function(x) return x end end) == 1, "the table gets watchpoints as before")
print "ok"
