-- A trace that makes several small objects asks the collector once for all of them, and garbage is collected all the same.
local ir = require "ir"
jit.off(true)

-- How often an instruction stands in the loop of a trace.
local function in_loop(trace, wanted) return ir.count(trace, wanted, true) end

local function run(f, n)
  jit.flush()
  local most = 0
  for i = 1, 20 do
    f(n)
    most = math.max(most, collectgarbage "count")
  end
  return most
end
jit.off(run)

local kept = {}
local function objects(n)
  for i = 1, n do
    kept[1] = { i }
    kept[2] = { x = i }
    kept[3] = function() return i end
  end
end
collectgarbage()
local base = collectgarbage "count"
local most = run(objects, 5000)
assert(in_loop(1, "TNEW") == 1 and in_loop(1, "TDUP") == 1 and in_loop(1, "GCSTEP") == 1, in_loop(1, "GCSTEP"))
assert(kept[1][1] == 5000 and kept[2].x == 5000 and kept[3]() == 5000)
assert(most < base + 4096, most .. " " .. base)

-- Strings and builtins share it as well; however large strings are, the collector makes up for them.
local long = ("x"):rep(100000)
local function strings(n)
  for i = 1, n do
    kept[1] = long .. i
    kept[2] = long:sub(2) .. i
    kept[3] = long:rep(2)
  end
end
kept = {}
local live = {}
for i = 1, 30000 do live[i] = { i } end
collectgarbage()
base = collectgarbage "count"
most = run(strings, 200)
assert(in_loop(1, "GCSTEP") == 1, in_loop(1, "GCSTEP"))
assert(most < 2 * base + 8192, most .. " " .. base)
print "ok"
