-- A watched program shows what LuaJIT would show: its thresholds, whatever the program has spent on compiling.
local stops = 0
local function on_trace(what) if what == "stop" then stops = stops + 1 end end
jit.off(on_trace)
jit.off(true)
local function loop(n)
  local s = 0
  for i = 1, n do s = s + i end
  return s
end
loop(100)
assert(require("jit.util").counters().closed == 0)
jit.attach(on_trace, "trace")
for _ = 1, 2 do loop(100) end
assert(stops == 1, stops)
for n = 1, 20 do assert(loadstring("local s = " .. n .. " for i = 1, 100 do s = s + i end"))() end
assert(stops == 21, stops)
jit.attach(on_trace)
assert(loadstring "local s = 0 for i = 1, 100 do s = s + i end")()
assert(stops == 21, stops)
print "ok"
