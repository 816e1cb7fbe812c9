-- A root trace that is for a rare path of its loop, with a first side trace that is for another rare one: the usual path, which goes on
-- from there, gets a loop of its own all the same.
local util = require "jit.util"
jit.off(true)

local kinds = {}
for i = 1, 5000 do kinds[i] = i <= 200 and "first" or i <= 214 and "second" or "usual" end

local links, sides = {}, 0
local function on_trace(what, trace)
  if what == "stop" then links[trace] = util.traceinfo(trace).linktype end
end
jit.off(on_trace)
local function loop()
  local s = 0
  for i = 1, #kinds do
    local kind = kinds[i]
    if kind == "first" then s = s + 1
    elseif kind == "second" then s = s + 2
    else s = s + 3 end
  end
  return s
end
jit.attach(on_trace, "trace")
assert(loop() == 200 + 28 + 4786 * 3)
jit.attach(on_trace)

local loops, last = 0, 0
for trace, link in pairs(links) do
  if link == "loop" then loops, last = loops + 1, math.max(last, trace) end
end
-- The root trace, and the variant, which begins behind the side trace for the usual path: it leaves once, at the end of the list.
assert(loops == 2, loops)
local exits = 0
for _, taken in pairs(util.tracestats(last).exits) do exits = exits + taken end
assert(last == 4 and exits <= 1, last .. " " .. exits)
print "ok"
