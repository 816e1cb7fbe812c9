-- Which side of a branch a loop's trace follows does not depend on which iteration was recorded first: a loop that is recorded again follows the
-- side that most iterations take.
jit.opt.start("hotloop=10", "hotexit=5", "budget=0", "hottree=100")

-- The lines of each trace, and how it ends.
local util = require "jit.util"
local lines, sides, loops = {}, {}, {}
jit.attach(function(what, tr, func, pc, parent)
  if what == "start" then
    lines[tr], sides[tr] = {}, parent
  elseif what == "stop" and util.traceinfo(tr).linktype == "loop" then
    loops[#loops + 1] = tr
  end
end, "trace")
jit.attach(function(tr, func, pc)
  local line = pc >= 0 and util.funcinfo(func, pc).currentline
  if line then lines[tr][line] = true end
end, "record")

-- One of three sides, chosen by values of two types in a function: where they differ, the trace is left at a load and not at a test.
local function side(first, second, i)
  if first[i] then
    if second[i] then
      return 1
    end
    return 2
  end
  return 3 -- USUAL
end
local function run(first, second, n)
  local sum = 0
  for round = 1, 40 do
    for i = 1, n do sum = sum + side(first, second, i) end
  end
  return sum
end
jit.off(true)
local usual = util.funcinfo(side).linedefined + 7

for seed = 1, 12 do
  local first, second, random = {}, {}, seed
  for i = 1, 1000 do
    random = (random * 1103515245 + 12345) % 2147483648
    local k = math.floor(random / 65536) % 12
    first[i], second[i] = k < 5, k < 2 or k > 8
  end
  loops = {}
  local sum = run(first, second, 1000)
  jit.off() local plain = run(first, second, 1000) jit.on()
  assert(sum == plain)
  assert(lines[loops[#loops]][usual], "the loop follows a rare side with seed " .. seed)
  jit.flush()
end

-- Side traces of the inner loop go on through outer loops whose traces only lead to it, at their ends and where they begin: it makes no difference
-- which trace was there first.
jit.opt.start("hotloop=10", "hotexit=100", "hottree=1000000")
local function nested(n)
  local sum = 0
  for i = 1, n do
    sum = sum + i
    for k = 1, 6 + i % 2 do
      for j = 1, 5 + i % 2 do sum = sum + j end
      sum = sum + k
    end
  end
  return sum
end
local sum = nested(2000)
local inner, outer, back = nil, 0, 0
for tr = 1, 40 do
  local info = util.traceinfo(tr)
  if info and info.linktype == "loop" then inner = tr end
end
for tr = 1, 40 do
  local info = util.traceinfo(tr)
  if info and sides[tr] then
    assert(info.link == inner, "trace " .. tr .. " leads to trace " .. info.link)
    back = back + 1
  elseif info and tr ~= inner then
    outer = outer + 1
  end
end
assert(outer == 2 and back == 2, outer .. " " .. back)
jit.off() local plain = nested(2000) jit.on()
assert(sum == plain)

-- What a side trace learns about instructions that no trace above it was recorded from, here in loops after the one with the root trace, is no
-- reason to record the root trace again.
jit.opt.start("hotloop=60", "hotexit=10", "hottree=1000000")
jit.flush()
local function phases(values, n)
  local sum = 0
  for i = 1, n do
    for j = 1, 30 do sum = sum + j end
    for j = 1, 3 do sum = sum + values[j % 2 + 1] end
  end
  return sum
end
sum = phases({ 1, 0.5 }, 400)
local roots = 0
for tr = 1, 40 do
  local info = util.traceinfo(tr)
  if info and info.linktype == "loop" then roots = roots + 1 end
end
assert(roots == 1, roots)
jit.off() plain = phases({ 1, 0.5 }, 400) jit.on()
assert(sum == plain)
print("ok")
