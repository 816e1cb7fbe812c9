-- A function that is left again after a few instructions gets no trace of its own, however hot it is: entering that would cost more than
-- it saves, and its exits would lead into the callers. In the traces of those who call it, it is compiled as ever; and a function that
-- calls itself gets one, though most calls return at once.
local counters = require("jit.util").counters

local Point = {}
Point.__index = Point
function Point:get() return self.x end
function Point:set(x) self.x = x end

local p = setmetatable({ x = 1 }, Point)
local function calls(n)
  local s = 0
  for i = 1, n do
    p:set(i)
    s = s + p:get()
  end
  return s
end
jit.off(calls)
assert(calls(2e6) == 2000001000000)
assert(counters().started > 0 and counters().closed == 0, counters().closed)

jit.on(calls)
assert(calls(1e6) == 500000500000)
assert(counters().closed > 0)

local function tak(x, y, z)
  if y >= x then return z end
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
end
local closed = counters().closed
assert(tak(18, 12, 6) == 7 and tak(20, 12, 6) == 7)
assert(counters().closed > closed)
print("ok")
