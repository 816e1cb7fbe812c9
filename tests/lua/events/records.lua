-- What the recording of a loop tells: every instruction, every function, the depth.
local watch = require "watch"
local util = require "jit.util"
jit.off(true)

local function leaf(x) return math.abs(x) + 1 end
local function middle(x)
  local r = leaf(x)
  return r
end
local function loop(n)
  local sum = 0
  for i = 1, n do sum = sum + middle(-i) end
  return sum
end

watch.start()
assert(loop(100) == 5150)
watch.finish()

-- (Counters are shared: one of the functions may have become hot before the loop.)
local start
for _, stop in ipairs(watch.all "stop") do
  if stop.linktype == "loop" then start = stop end
end
assert(start.func == loop and start.parent == nil)
local list = watch.records[start.number]

-- The first is at the start: the loop instruction itself or the first of the body.
assert(list[1].func == loop and list[1].depth == 0)
assert(util.funcinfo(loop, list[1].pc).currentline == start.line)

local depth_of = { [loop] = 0, [middle] = 1, [leaf] = 2 }
local seen, order = {}, {}
for i, r in ipairs(list) do
  assert((r.pc == -1) == (r.func == math.abs))
  assert(r.pc == -1 or r.depth == depth_of[r.func], r.depth)
  if not seen[r.func] then
    seen[r.func] = true
    order[#order + 1] = r.func
  end
  -- Straight on, unless this is a jump, a call, a return or the loop.
  local next = list[i + 1]
  if next and next.func == r.func and next.pc ~= r.pc + 1 then
    assert(r.func == loop and next.pc < r.pc or i > 1, "a jump where there is none")
  end
end
assert(#order == 4 and order[1] == loop and order[2] == middle and order[3] == leaf and order[4] == math.abs)

-- A builtin is told once for each call; a Lua function begins with its header or the instruction after it.
local builtins, calls = 0, 0
for i, r in ipairs(list) do
  if r.pc == -1 then
    builtins = builtins + 1
    assert(list[i - 1].func == leaf and list[i + 1].func == leaf and list[i + 1].pc == list[i - 1].pc + 1)
  elseif i > 1 and r.depth == list[i - 1].depth + 1 then
    calls = calls + 1
    assert(r.pc <= 1)
  end
end
assert(builtins == 1 and calls == 2)
print "ok"
