-- A side trace that comes back to the start of a loop is linked to the variant of the loop that it is below, if that fits, and not to the root
-- trace, whose checks have failed there.
local util = require "jit.util"
jit.opt.start("hotloop=10", "hotexit=5", "hottree=1000000", "budget=0")
jit.off(true)

-- By trace: the trace and the exit that it was recorded at.
local parents, exits = {}, {}
local function event(what, number, _, _, parent, exit)
  if what == "flush" then
    parents, exits = {}, {}
  elseif what == "start" then
    parents[number], exits[number] = parent, exit
  end
end
jit.off(event)
jit.attach(event, "trace")

-- The links of side traces to traces of loops, by what they lead to.
local function links()
  local to_root, to_variant = 0, 0
  for n = 1, 40 do
    local info = util.traceinfo(n)
    if info and info.linktype == "root" and parents[n] then
      if parents[info.link] then
        assert(exits[info.link] == 0, "linked to a trace that starts elsewhere")
        local above = n
        repeat above = parents[above] until above == info.link or not above
        assert(above, "linked to a variant that it is not below")
        to_variant = to_variant + 1
      else
        to_root = to_root + 1
      end
    end
  end
  return to_root, to_variant
end
jit.off(links)

local function each(list, f)
  local sum = 0
  for i = 1, #list do sum = sum + f(list[i]) end
  return sum
end
local list = {}
for i = 1, 100 do list[i] = { v = i } end
local function value(o) return o.v end
local function option(o) return o.w or 2 end
for _ = 1, 20 do each(list, value) end
for _ = 1, 20 do each(list, option) end
assert(links() == 0)
for i = 1, 100, 2 do list[i].w = i end
for _ = 1, 200 do assert(each(list, option) == 2600) end
local to_root, to_variant = links()
assert(to_root == 0 and to_variant >= 1, to_root .. " " .. to_variant)
-- The iterations that follow the side trace go round without the exits of the root trace.
for _ = 1, 20 do assert(each(list, value) == 5050) end
for _ = 1, 20 do assert(each(list, option) == 2600) end

-- A side trace below a variant that makes what the root trace starts with.
jit.flush()
local function switch(n)
  local state, count = nil, 0
  for i = 1, n do
    if state then
      count = count + #state
      if i % 7 == 0 then state = nil end
    else
      count = count + 1
      if i % 7 == 3 then state = "abc" end
    end
  end
  return count
end
assert(switch(7000) == 15000)
to_root, to_variant = links()
assert(to_root >= 2 and to_variant == 0, to_root .. " " .. to_variant)

-- Where the variant follows the side of a branch that is rarely taken, it is recorded again (trees.lua has the same for root traces).
local function recorded(hottree)
  jit.flush()
  jit.opt.start("hottree=" .. hottree)
  for i = 1, 100 do list[i].w = nil end
  for _ = 1, 20 do each(list, value) end
  for _ = 1, 20 do each(list, option) end
  for i = 1, 99 do list[i].w = i end
  for _ = 1, 400 do assert(each(list, option) == 4952) end
  local loops = 0
  for n = 1, 40 do
    local info = util.traceinfo(n)
    if info and info.linktype == "loop" then loops = loops + 1 end
  end
  return loops
end
jit.off(recorded)
local once, again = recorded(1000000), recorded(10)
assert(once == 2 and again == 3, once .. " " .. again)
print "ok"
