-- A profiler in twenty lines: counts samples by function, from inside the program.
--
--     perilune examples/lua/sampler.lua
local profile = require "jit.profile"

local counts, states, total = {}, {}, 0
local names = { N = "compiled", I = "interpreted", C = "builtins", G = "garbage collector", J = "compiler" }

local function slow(n)
  local s = 0
  for i = 1, n do s = s + (i % 7) * (i % 5) end
  return s
end

local function fast(n)
  return n + 1
end

profile.start("fi1", function(thread, samples, state)
  local where = profile.dumpstack(thread, "f", 1)
  counts[where] = (counts[where] or 0) + samples
  states[state] = (states[state] or 0) + samples
  total = total + samples
end)
local begun = os.clock()
repeat
  slow(100000)
  fast(1)
until os.clock() - begun > 0.3
profile.stop()

local order = {}
for where in pairs(counts) do order[#order + 1] = where end
table.sort(order, function(a, b) return counts[a] > counts[b] end)
print(total .. " samples")
for _, where in ipairs(order) do print(("%3.0f%%  %s"):format(100 * counts[where] / total, where)) end
for state, n in pairs(states) do print(("%3.0f%%  %s"):format(100 * n / total, names[state])) end
