-- Counts of the VM and of the process: in a process of one VM they are the same.
local util = require "jit.util"
local gauges = { alive = true, mcode = true }
for i = 1, 1e4 do end
local own, all = util.counters(true), util.counters()
local names = 0
for name, n in pairs(all) do
  names = names + 1
  assert(type(n) == "number" and n >= 0 and own[name] <= n, name)
end
for name in pairs(own) do names = names - 1 end
assert(names == 0)
assert(own.closed >= 1 and own.closed == all.closed and own.alive == all.alive and own.mcode == all.mcode)
print("ok")
