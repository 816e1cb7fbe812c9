-- Where one field of a function turns out to hold integers and other numbers, the others are expected to: the loop is recorded again
-- once, not once for each of them.
local recordings = require "recordings"

local function sum(o)
  return o.a + o.b + o.c + o.d + o.e + o.f
end

local function run(o, n)
  local total = 0
  for _ = 1, n do total = total + sum(o) end
  return total
end

recordings.start()
local object = { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6 }
assert(run(object, 2000) == 42000)
assert(recordings.stops > 0, "nothing was compiled")
for _, name in ipairs { "a", "b", "c", "d", "e", "f" } do
  object[name] = object[name] + 0.5
  assert(run(object, 2000) == 42000 + 1000)
  object[name] = object[name] - 0.5
end
recordings.stop()
assert(recordings.retries == 1, "recorded again " .. recordings.retries .. " times")

-- And what one function finds in the fields of a class is expected of the class's fields in others, which come to them later.
local Pair = {}
Pair.__index = Pair
function Pair.__add(a, b) return a.x + b.x + a.y + b.y end
function Pair.__mul(a, b) return a.x * b.x + a.y * b.y end
function Pair.__sub(a, b) return a.x - b.x + a.y - b.y end
local function pair(x, y) return setmetatable({ x = x, y = y }, Pair) end

local function add_up(f, pairs)
  local total = 0
  for i = 1, #pairs do total = total + f(pairs[i]) end
  return total
end
local function mixed(n)
  local list = {}
  for i = 1, n do list[i] = i % 2 == 0 and pair(i, i + 0.5) or pair(i + 0.5, i) end
  return list
end
local list, unit = mixed(2000), pair(1, 1)
recordings.start()
assert(add_up(function(p) return p + unit end, list) == 2001000 * 2 + 2000 * 2.5)
local before = recordings.retries
assert(add_up(function(p) return p * unit end, list) == 2001000 * 2 + 1000)
assert(add_up(function(p) return p - unit end, list) == 2001000 * 2 - 3000)
recordings.stop()
assert(before >= 1 and recordings.retries == before, before .. " " .. recordings.retries)
print("ok")
