-- What traces cost, why they are left, what was given up.
local util = require "jit.util"
jit.off(true, true)

local function natural(n) return type(n) == "number" and n >= 0 and n % 1 == 0 end
local NAMES = { "started", "closed", "aborted", "compiled", "entered", "deopt", "disabled", "ticks", "alive", "collected", "flushed",
  "mcode", "record_ns", "compile_ns" }
local function counters()
  local c = util.counters()
  for _, name in ipairs(NAMES) do assert(natural(c[name]), name) end
  return c
end

local function hot(t, limit, n)
  local s = 0
  for i = 1, n do
    local v = t[i]
    if v > limit then
      s = s + v
    else
      s = s - 1
    end
  end
  return s
end
jit.on(hot)
local first_line = debug.getinfo(hot, "S").linedefined
local t = {}
for i = 1, 300 do t[i] = i end
jit.flush()
local before = counters()
for _ = 1, 100 do hot(t, 200, 300) end
local after = counters()
assert(after.closed > before.closed and after.started >= after.closed + after.aborted - 1 and after.entered > before.entered)
assert(after.deopt > before.deopt and after.alive > 0 and after.record_ns > before.record_ns)

-- A trace.
local function stats(tr)
  local s = util.tracestats(tr)
  if not s then return end
  assert(natural(s.entries) and natural(s.instructions) and natural(s.mcode) and natural(s.root) and natural(s.sides))
  for _, name in ipairs { "record_us", "optimise_us", "lower_us" } do assert(s[name] > 0, name) end
  local nexit = util.traceinfo(tr).nexit
  for k = 0, nexit - 1 do assert(natural(s.exits[k])) end
  assert(s.exits[nexit] == nil)
  assert(s.passes[1].name == "emit" and s.passes[1].before >= s.passes[1].after)
  for i = 2, #s.passes do assert(s.passes[i].before == s.passes[i - 1].after, "a pass begins with what the one before has left") end
  assert(s.passes[#s.passes].after == s.instructions and s.passes[#s.passes].name == "dce")
  return s
end
local roots, sides, entries, exits = 0, 0, 0, 0
local tr = 1
while stats(tr) do
  local s = stats(tr)
  if s.root == tr then roots = roots + 1 else sides = sides + 1 end
  entries = entries + s.entries
  for k = 0, util.traceinfo(tr).nexit - 1 do exits = exits + s.exits[k] end
  tr = tr + 1
end
assert(roots > 0 and sides > 0 and entries > 0 and exits > 0)
assert(entries == counters().entered - before.entered, "each entry belongs to a trace")
assert(exits <= counters().deopt - before.deopt)
assert(util.tracestats(1).sides > 0)

-- An exit: that of the comparison.
local compared
for n = 1, tr - 1 do
  for k = 0, util.traceinfo(n).nexit - 1 do
    local e = util.exitinfo(n, k)
    assert(natural(e.taken) and natural(e.link) and type(e.condition) == "string" and type(e.guards) == "table")
    assert(e.loc:match "^stats%.lua:%d+$" and e.loc == "stats.lua:" .. e.line and natural(e.pc) and e.bytecode:match "^%u[%u%d]+$")
    assert(e.taken == util.tracestats(n).exits[k])
    if e.link ~= 0 then assert(util.tracestats(e.link).root) end
    for _, g in ipairs(e.guards) do
      assert(natural(g.ref) and g.ref > 0 and g.ref <= util.traceinfo(n).nins)
      assert(g.loc == "stats.lua:" .. g.line and natural(g.pc) and g.bytecode:match "^%u[%u%d]+$" and #g.condition > 0)
      assert(e.condition:find(g.condition, 1, true))
      local _, ot = util.traceir(n, g.ref)
      assert(bit.band(ot, 128) ~= 0, "a guard")
      if g.condition:find "local 'limit'" and not g.type and g.line == first_line + 4 then compared = compared or { n, k, e, g } end
    end
  end
end
assert(compared, "the guard of the comparison is found")
local e, g = compared[3], compared[4]
assert(g.bytecode == "ISGE" and (e.line == first_line + 5 or e.line == first_line + 7), "it leads to the other branch")
local first = util.exitinfo(1, 0)
local types = {}
for _, guard in ipairs(first.guards) do if guard.type then types[guard.condition] = guard.type end end
assert(types["local 't' is a table"] == "a table", "the type that was seen")
-- Taken by hand: the exit where an element is no number any more.
local function taken()
  local n = 0
  for k = 0, util.traceinfo(1).nexit - 1 do n = n + util.exitinfo(1, k).taken end
  return n
end
local was = taken()
pcall(hot, { "x" }, 200, 1)
local odd = {}
for i = 1, 300 do odd[i] = i end
for i = 50, 300 do odd[i] = { i } end
pcall(hot, odd, 200, 300)
assert(taken() >= was)

-- No such trace, no such exit, wrong arguments.
for _, n in ipairs { 0, -1, 99999, "77" } do
  assert(select("#", util.tracestats(n)) == 0 and select("#", util.exitinfo(n, 0)) == 0)
end
assert(select("#", util.exitinfo(1, -1)) == 0 and select("#", util.exitinfo(1, 9999)) == 0)
for _, f in ipairs { util.tracestats, util.exitinfo } do
  local ok, message = pcall(f, {})
  assert(not ok and message == "bad argument #1 to '?' (number expected, got table)", message)
end
local ok, message = pcall(util.exitinfo, 1)
assert(not ok and message == "bad argument #2 to '?' (number expected, got no value)", message)

-- What was given up, and where.
jit.flush()
assert(#util.aborts() == 0, "a flush forgets")
local inner = setmetatable({}, { __index = function(_, k) return k end })
jit.off(getmetatable(inner).__index)
local function given_up()
  local s = 0
  for i = 1, 300 do s = s + inner[i] end
  return s
end
jit.on(given_up)
local line = debug.getinfo(given_up, "S").linedefined
for _ = 1, 10 do given_up() end
local list = util.aborts()
assert(#list > 0)
local found
for i, a in ipairs(list) do
  assert(natural(a.count) and a.count > 0 and a.loc == "stats.lua:" .. a.line and #a.reason > 0 and a.bytecode:match "^%u[%u%d]+$")
  assert(i == 1 or list[i - 1].count >= a.count, "the most frequent first")
  found = found or a.reason == "JIT compilation disabled for function" and a
end
assert(found and found.count >= 1 and math.abs(found.line - line) <= 6)
print "ok"
