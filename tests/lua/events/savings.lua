-- The IR of loops with a pass and without it: the result is the same, and there is less to do.
local util = require "jit.util"
local ir = require "ir"
jit.off(true)

-- The instructions of the loop of the first trace, by name, and their number; all of the trace if there is no LOOP.
local function loop_of(number)
  local info = util.traceinfo(number)
  local function from(first)
    local names, n = {}, 0
    for ref = first, info.nins do
      local op = ir.op(number, ref)
      if op ~= "NOP" and op ~= "PHI" then
        names[op] = (names[op] or 0) + 1
        n = n + 1
      end
    end
    return names, n
  end
  for ref = 1, info.nins do
    if ir.op(number, ref) == "LOOP" then return from(ref + 1) end
  end
  return from(1)
end
jit.off(loop_of, true)

-- Compiles the text anew, so that it is not affected by what happened before, and runs it with these flags.
local function run(text, ...)
  jit.flush()
  jit.opt.start(3, "hotloop=56", "budget=0", ...)
  local first
  local function trace(what, number)
    if what == "stop" and not first then first = { loop_of(number) } end
  end
  jit.off(trace)
  jit.attach(trace, "trace")
  local f = assert(loadstring("local n = ... " .. text))
  local result = f(100)
  jit.attach(trace)
  assert(first, "no trace: " .. text)
  return result, first[1], first[2]
end

local wanted = {}
for _, pass in ipairs { ... } do wanted[pass] = true end

local function saves(pass, op, text)
  if not wanted[pass] then return end
  local result, with, n = run(text)
  local expected, without, m = run(text, "-" .. pass)
  assert(result == expected, pass .. ": another result: " .. tostring(result) .. " and " .. tostring(expected))
  assert((with[op] or 0) < (without[op] or 0), pass .. ": not fewer " .. op)
  assert(n < m or pass == "narrow", pass .. ": not fewer instructions")
end

saves("fold", "BXOR", "local x = 1 for i = 1, n do x = bit.bxor(x, 0, bit.bxor(i, i), i) end return x")
saves("cse", "MUL", "local x = 1.5 for i = 1, n do local y = x + i x = (y * y + y * y) % 7.5 end return x")
saves("dce", "MUL", "local x = 1.5 for i = 1, n do local y = x * i y = i x = x + 1 end return x")
saves("fwd", "HLOAD", "local t = { x = 0 } for i = 1, n do t.x = t.x + i t.x = t.x + 1 end return t.x")
saves("dse", "HSTORE", "local t = { x = 0, y = 1 } for i = 1, n do t.x = i t.x = i + 0.5 t.x = i end return t.x")
saves("narrow", "ADDOV", "local x = 0 for i = 1, n do x = i end return x")
saves("loop", "HREFK", "local t = { x = 5 } local x = 0 for i = 1, n do x = x + t.x end return x")
saves("abc", "ABC", "local t, x = { ('x'):rep(100):byte(1, 100) }, 0 for i = 1, n do x = x + t[i] end return x")

-- Objects that do not leave the loop are not made: what is allocated is counted.
if wanted.sink then
  local function allocated(...)
    jit.flush()
    jit.opt.start(3, "budget=0", ...)
    local f = assert(loadstring "local x = 0 for i = 1, 20000 do local t = { x = i } x = x + t.x end return x")
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    assert(f() == 200010000)
    local kilobytes = collectgarbage "count" - before
    collectgarbage "restart"
    return kilobytes
  end
  local with, without = allocated(), allocated("-sink")
  assert(with * 10 < without, "sink: allocates " .. with .. " KB, without the pass " .. without)
end
print "ok"
