-- What compiling has cost, and which exits are worth a look: for a program that runs for long, from time to time.
--
--     perilune examples/lua/counters.lua
local util = require "jit.util"

local M = {}

-- The counts of this VM since the program started, as one line.
function M.summary()
  local c = util.counters(true)
  return ("%d recordings, %d aborted, %d traces alive (%d KB), %d entries, %d exits, compiling took %.1f ms"):format(
    c.started, c.aborted, c.alive, c.mcode / 1024, c.entered, c.deopt, (c.record_ns + c.compile_ns) / 1e6)
end

-- Exits that are taken to the interpreter more than `least` times and have no side trace: what to look at first.
function M.hot_exits(least)
  local found = {}
  for trace = 1, util.counters(true).started do
    local stats = util.tracestats(trace)
    for exit, taken in pairs(stats and stats.exits or {}) do
      local info = util.exitinfo(trace, exit)
      if taken >= least and info and info.link == 0 then
        found[#found + 1] = { taken = taken, text = ("%d times exit %d of trace %d, at %s: %s"):format(
          taken, exit, trace, info.loc, info.condition or "end of the trace") }
      end
    end
  end
  table.sort(found, function(a, b) return a.taken > b.taken end)
  return found
end

-- A handler that is given numbers mostly, and strings now and then.
jit.opt.start("hotloop=56", "hotexit=100000")
local function handle(x)
  if type(x) == "string" then return #x end
  return x + 1
end
local inputs = { 1, 2, "three", 4 }
local total = 0
for i = 1, 100000 do
  total = (total + handle(inputs[i % #inputs + 1])) % 1000
end

print("total " .. total)
print(M.summary())
for _, exit in ipairs(M.hot_exits(1000)) do
  print(exit.text)
end
return M
