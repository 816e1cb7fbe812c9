-- Builtins that become part of a trace: none of them is called.
local ir = require "ir"
local new = require "table.new"
jit.off(true)

local list = { 1, 2, 3 }
local function use(a, b, c) return a + b + (c or 0) end
local cases = {
  function(n) local s = 0 for i = 1, n do s = s + use(unpack(list)) end return s end,
  function(n) local s = 0 for i = 1, n do s = s + use(unpack(list, 2, 3)) end return s end,
  function(n) local t for i = 1, n do t = new(4, 2) t[1] = i end return t[1] end,
  function(n) local s = 0 for i = 1, n do s = getmetatable(i) == nil and getmetatable("").__index == string and i or -1 end return s end,
}
local results = { 1200, 1000, 200, 200 }
for i, case in ipairs(cases) do
  jit.flush()
  local result = case(200)
  assert(result == results[i], i .. ": " .. tostring(result))
  assert(ir.newest() > 0 and ir.count(ir.newest(), "NATIVE") == 0, i)
end
-- More elements than a loop would be unrolled for are unpacked by the builtin.
for i = 1, 40 do list[i] = i end
jit.flush()
cases[1](200)
assert(ir.count(ir.newest(), "NATIVE") > 0)
print "ok"
