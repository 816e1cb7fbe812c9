-- What only a chunk has defined, when it was loaded, and the environment of a function are constants of a trace, without guards; what
-- a function sets is a variable, and so is what has changed.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
jit.off(true)

local function name(op) return (vmdef.irnames:sub(op * 6 + 1, op * 6 + 6):gsub(" ", "")) end
-- How often an instruction stands in the newest trace.
local function count(wanted)
  local trace, n = 0, 0
  while util.traceinfo(trace + 1) do trace = trace + 1 end
  for ref = 1, util.traceinfo(trace).nins do
    local _, ot = util.traceir(trace, ref)
    if name(math.floor(ot / 256)) == wanted then n = n + 1 end
  end
  return n
end

FACTOR, NAME = 3, "ab"
local config = { step = 2 }
local function defined(n)
  local s = 0
  for i = 1, n do s = s + FACTOR * i + #NAME + config.step end
  return s
end
defined(200)
assert(count "HLOAD" == 0 and count "FLOAD" == 0, count "FLOAD")
config.step = 1
assert(util.traceinfo(1) == nil, "traces that took it for a constant are gone")
assert(defined(100) == 3 * 5050 + 300)
assert(count "HLOAD" >= 1 and count "HREFK" >= 1)

local other = {}
function define() VARIABLE, other.variable = 1, 2 end
define()
local function set(n)
  local s = 0
  for i = 1, n do s = s + VARIABLE + other.variable end
  return s
end
jit.flush()
assert(set(200) == 600)
assert(count "HLOAD" >= 2)
local before = util.counters().flushed
define()
assert(util.counters().flushed == before, "a variable that is set throws no trace away")

-- An environment: a constant until the function gets another one, and then no more.
jit.flush()
local function uses_globals(n)
  local s = 0
  for i = 1, n do s = s + VARIABLE end
  return s
end
uses_globals(200)
local without = count "FLOAD"
before = util.counters().flushed
setfenv(uses_globals, { VARIABLE = 5 })
assert(util.counters().flushed == before + 1)
assert(uses_globals(200) == 1000)
assert(count "FLOAD" > without, count "FLOAD")
setfenv(uses_globals, { VARIABLE = 6 })
assert(util.counters().flushed == before + 1, "no trace takes it for a constant any more")
assert(uses_globals(200) == 1200)
print "ok"
