-- A loop whose iterations meet functions in turn: the next iteration fails what a variant checks at its start. Two variants loop all the same; the
-- others continue at the root trace, so that none has side traces for each of the others. Where functions stay the same for some iterations, all
-- variants loop.
local util = require "jit.util"
jit.opt.start("hotloop=20", "hotexit=5", "budget=0")

-- How many traces start at the first exit of another, by the kind of their links.
local function variants()
  local n, trace = {}, 1
  while util.traceinfo(trace) do
    local first = util.traceinfo(util.exitinfo(trace, 0).link)
    if first then n[first.linktype] = (n[first.linktype] or 0) + 1 end
    trace = trace + 1
  end
  return n
end
jit.off(variants)

local functions = {
  function(o) o.a = o.a + 1 end, function(o) o.b = o.b .. "x" end, function(o) o.c = not o.c end,
  function(o) o.d = -o.d end, function(o) o[#o % 5 + 1] = o.a end, function(o) o.e = #o end,
}
local function run(list, times)
  local o = { a = 0, b = "", c = true, d = 2, e = 0 }
  for _ = 1, times do
    for i = 1, #list do list[i](o) end
    o.b = ""
  end
  return table.concat({ o.a, tostring(o.c), o.d, o.e, #o }, " ")
end
local function compiled(list, times)
  jit.flush()
  local f = assert(loadstring(string.dump(run)))
  jit.off(run)
  local result = f(list, times)
  assert(result == run(list, times), result)
  return variants()
end

local turns, runs = {}, {}
for k = 1, 20 do
  for i = 1, #functions do turns[#turns + 1] = functions[i] end
end
for i = 1, #functions do
  for k = 1, 20 do runs[#runs + 1] = functions[i] end
end
local n = compiled(turns, 60)
assert(n.loop == 2 and n.root >= 2, ("in turn: %s loops, %s others"):format(n.loop, n.root))
n = compiled(runs, 60)
assert(n.loop >= 4, ("in runs: %s loops"):format(n.loop))
print "ok"
