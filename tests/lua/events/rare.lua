-- The path of a loop that is recorded is one that is never taken again: the loop is recorded once more behind the side trace.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=4")

local rare, links = false, {}
jit.attach(function(what, trace, _, _, parent)
  if what == "start" then rare = not parent end
  if what == "stop" then
    rare = false
    links[#links + 1] = trace .. " " .. util.traceinfo(trace).linktype .. " " .. util.traceinfo(trace).link
  end
end, "trace")

local function loop(n)
  local sum = 0
  for i = 1, n do
    if i == n / 2 then sum = sum + 0.5 end
    if rare then sum = sum - 1 else sum = sum + i end
  end
  return sum
end
jit.off(true)

local first = loop(1000)
local exits = 0
jit.attach(function() exits = exits + 1 end, "texit")
local second = loop(1000)
jit.attach(function() end)
assert(first > 490000 and second == 500500.5)
assert(exits < 20, exits)
assert(links[1] == "1 loop 1" and links[2] == "2 root 1" and links[3] == "3 loop 3", table.concat(links, ", "))
print "ok"
