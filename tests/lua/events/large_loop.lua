-- How hot a loop must be depends on how much it does: one with a body of thousands of instructions does not wait for as many iterations
-- as a small one.
local counters = require("jit.util").counters

local body = {}
for i = 1, 400 do body[i] = ("s = s + t[%d] * 0.5 t[%d] = t[%d] + 1"):format(i % 50 + 1, i % 50 + 1, i % 50 + 1) end
local loop = assert(loadstring("local t, n = ... local s = 0 while n > 0 do n = n - 1 " .. table.concat(body, " ") .. " end return s"))
local t = {}
for i = 1, 50 do t[i] = 0 end

local n = 0
repeat
  loop(t, 100)
  n = n + 100
until counters().closed > 0 or n == 50000
assert(n < 50000, n)
print("ok")
