-- A loop that checks once which functions it calls has a trace for each of them, which loops by itself; a trace that starts in a function with
-- variable arguments follows its tail calls. What no iteration changes is checked at the start of the loop, wherever the iteration asks for it.
local util = require "jit.util"
jit.opt.start("hotloop=20", "hotexit=5", "budget=0")

-- How many traces have each kind of link.
local function links()
  local n, trace = {}, 1
  while util.traceinfo(trace) do
    local kind = util.traceinfo(trace).linktype
    n[kind] = (n[kind] or 0) + 1
    trace = trace + 1
  end
  return n
end
jit.off(links)

jit.off()
local formats = {}
for i = 1, 24 do
  formats[i] = {
    read = loadstring("return function(t, i) return t[i] + " .. i .. " end")(),
    write = loadstring("return function(t, i, v) t[i] = v - " .. i .. " end")(),
  }
end
jit.on()
local data = {}
for i = 1, 50 do data[i] = i end
local function convert(f, g)
  for i = 1, #data do g.write(data, i, f.read(data, i)) end
end
for i = 1, 24 do
  for _ = 1, 12 do convert(formats[i], formats[i]) end
end
local n = links()
assert(n.loop >= 24, "loops: " .. n.loop)
assert(not n.stitch, "calls are not inlined")

jit.flush()
local function largest(a, b, ...)
  if not b then return a end
  return largest(a > b and a or b, ...)
end
local s = 0
for i = 1, 3000 do s = s + largest(i % 7, 3, i % 11, 5, 2) end
n = links()
-- Those that start at the function itself return; side traces of the loop go round it.
assert((n.root or 0) >= 5, "traces that go round: " .. (n.root or 0))

-- Is there a side trace of the first exit that loops by itself?
jit.flush()
local function apply(t, g, convert, scale)
  local s = 0
  for i = 1, #t do
    local v = g.read(t, i)
    if convert then v = convert(v) end
    if scale then v = v * scale end
    s = s + v
  end
  return s
end
local parents = {}
local function note(what, trace, _, _, parent, exit)
  if what == "start" and parent then parents[trace] = exit end
end
-- The side traces that loop by themselves, all of first exits, after a function has run.
local function restarts(run)
  jit.flush()
  parents = {}
  jit.attach(note, "trace")
  run()
  jit.attach(note)
  local n = 0
  for trace, exit in pairs(parents) do
    local info = util.traceinfo(trace)
    if info and info.linktype == "loop" then
      assert(exit == 0, "a loop from exit " .. exit)
      n = n + 1
    end
  end
  return n
end
jit.off(note) jit.off(restarts)
local function negate(x) return -x end
local restarted = restarts(function()
  for _, options in ipairs { {}, { negate }, { nil, 2 }, { negate, 3 } } do
    for _ = 1, 12 do apply(data, formats[1], options[1], options[2]) end
  end
end)
assert(restarted == 3, "loops of their own: " .. restarted)

-- A sum that was an integer when the loop was compiled, and is none any more: another loop, and no trace that goes round.
local first, second = 0, 0
local function plus(x) first = first + x end
local function twice(x) second = second + 2 * x end
local function each(list, f)
  for i = 1, #list do f(list[i]) end
end
restarted = restarts(function()
  for _ = 1, 12 do each(data, plus) end
  for _ = 1, 12 do each(data, twice) end
  data[1] = 2 ^ 31
  for _ = 1, 2 do each(data, twice) end
  data[1] = 1
  for _ = 1, 12 do each(data, twice) end
end)
assert(second == 26 * 2 * 1275 + 2 * 2 * (2 ^ 31 - 1), second)
assert(restarted == 2, "loops of their own: " .. restarted)

-- A loop that is given one type of C after another: its sum may leave an iteration to its start, but only once.
local ffi = require "ffi"
local function total(p, n)
  local sum = 0
  for i = 0, n - 1 do sum = sum + p[i] end
  return sum
end
local bytes = ffi.new("double[50]")
restarted = restarts(function()
  for _, name in ipairs { "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "float", "double", "const int8_t", "const uint8_t", "const int16_t" } do
    local p = ffi.cast(name .. "*", bytes)
    for _ = 1, 12 do assert(total(p, 50) == 0) end
  end
end)
assert(restarted >= 9, "loops of their own: " .. restarted)
print "ok"
