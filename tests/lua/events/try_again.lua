-- An exit where recordings were aborted is tried again when it has become much hotter: what was in the way may be gone.
local util = require "jit.util"

local function odd(i) return i * 2 end
local function loop(n)
  local s = 0
  for i = 1, n do
    if i % 2 == 1 then s = s + odd(i) else s = s + 1 end
  end
  return s
end
local starts, stops = 0, 0
local function on_trace(what, trace, _, _, parent)
  if what == "start" and parent then starts = starts + 1 end
  if what == "stop" then stops = stops + 1 end
end
jit.off(on_trace)
jit.off(true)
jit.off(odd)
local function check(n) assert(loop(n) == n / 2 + n * n / 2) end
jit.attach(on_trace, "trace")
check(1000)
local tried = starts
assert(tried > 1 and stops == 1, tried)
check(1000)
assert(starts == tried and stops == 1, starts)
jit.on(odd)
check(20000)
assert(starts > tried and stops > 1, starts)
print "ok"
