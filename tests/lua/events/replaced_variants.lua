-- A variant that was recorded again counts no longer among the side traces of its root trace, and does not when it becomes invalid either.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=5", "budget=0", "hottree=50")
local used = { step = function(x) return x + 1 end }
local function branches(list, n)
  local s = 0
  for i = 1, n do
    local v = list[i % #list + 1]
    if type(v) == "string" then
      if v == "rare" then s = used.step(s + 1) else s = used.step(s + 2) end
    else
      s = used.step(s + v)
    end
  end
  return s
end
local root
local variants = {}
jit.attach(function(what, tr, func, pc, parent, exit)
  if what ~= "start" then return end
  if not parent then root = root or tr elseif parent == root and exit == 0 then variants[tr] = true end
end, "trace")
for _ = 1, 20 do
  branches({ 1, 2, 3 }, 100)
  branches({ "rare", "rare", "usual", "usual" }, 6)
  branches({ "usual" }, 300)
end
local n = 0
for tr in pairs(variants) do
  if util.traceinfo(tr) then n = n + 1 end
end
assert(n >= 2, "no variant was recorded again")
assert(util.tracestats(root).sides > 0)
used.step = function(x) return x + 3 end
assert(util.tracestats(root).sides == 0, util.tracestats(root).sides)
print "ok"
