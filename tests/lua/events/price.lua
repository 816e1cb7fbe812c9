-- A recording whose trace would be refused for its price ends on the way, and gets further the next time; a place that goes on gets
-- its trace in the end.
local util = require "jit.util"

local function small(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
small(1e7)
jit.opt.start("hotloop=2")

local body = {}
for i = 1, 200 do body[i] = "x = (x * " .. i .. " + y) % 65537 y = (y + x) % 4099" end
local large = assert(loadstring("local n, x, y = ... for i = 1, n do " .. table.concat(body, " ") .. " end return x, y"))

local recorded, refused = 0, {}
local function on_record() recorded = recorded + 1 end
local function on_trace(what, _, func, _, code)
  if what == "start" then
    recorded = 0
  elseif what == "abort" then
    refused[#refused + 1] = { recorded, code }
  end
end
jit.off(on_record)
jit.off(on_trace)
jit.attach(on_record, "record")
jit.attach(on_trace, "trace")
local before = util.counters().closed
large(40000, 1, 1)
jit.attach(on_record)
jit.attach(on_trace)

assert(#refused >= 2, #refused)
for i, r in ipairs(refused) do
  assert(require("jit.vmdef").traceerr[r[2]] == "machine code too long", r[2])
  assert(i == 1 or r[1] > refused[i - 1][1])
end
assert(refused[1][1] < 800, refused[1][1])
assert(util.counters().closed > before)
print("ok")
