-- What only a chunk has defined, when it was loaded, and the environment of a known function are constants of a trace, without guards;
-- what a function sets is a variable, and so is what has changed.
local util = require "jit.util"
local ir = require "ir"
jit.off(true)

-- How often an instruction stands in the newest trace.
local function count(wanted) return ir.count(ir.newest(), wanted) end

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

-- Fields that no trace goes by any more when they change throw none away, and the functions beside them are trusted as before.
local module = { a = 1, b = 2, c = 3, d = 4, e = 5 }
function module.double(x) return x * 2 end
local function uses_module(n)
  local s = 0
  for i = 1, n do s = module.double(s % 2) + module.a + module.b + module.c + module.d + module.e end
  return s
end
jit.flush()
uses_module(200)
assert(count "HLOAD" == 0)
before = util.counters()
module.a, module.b, module.c, module.d, module.e = 2, 3, 4, 5, 6
assert(util.counters().invalidated == before.invalidated + 1 and util.counters().flushed == before.flushed)
uses_module(200)
assert(count "HLOAD" == 5, count "HLOAD")

-- An environment: a constant until the function gets another one, and then no more.
jit.flush()
local function global() return VARIABLE end
local function uses_globals(n)
  local s = 0
  for i = 1, n do s = s + global() end
  return s
end
uses_globals(200)
local without = count "FLOAD"
before = util.counters().flushed
setfenv(global, { VARIABLE = 5 })
assert(util.counters().flushed == before + 1)
assert(uses_globals(200) == 1000)
assert(count "FLOAD" > without, count "FLOAD")
setfenv(global, { VARIABLE = 6 })
assert(util.counters().flushed == before + 1, "no trace takes it for a constant any more")
assert(uses_globals(200) == 1200)
print "ok"
