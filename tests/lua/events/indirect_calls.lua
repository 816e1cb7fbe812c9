-- Calls that traces end in front of: once each function has a trace, compiled code makes the calls and the returns itself.
local counters = require("jit.util").counters
jit.off(true)

local function functions(n, code, ...)
  local list = {}
  for i = 1, n do list[i] = assert(loadstring((code:gsub("%$", i))))(...) end
  return list
end

-- With the usual thresholds the functions get their traces one after the other. Until then the traces that call them leave for nothing, which is
-- no reason to disable them.
do
  local ops = functions(20, "return function(st) st.acc, st.pc = st.acc + $, st.pc + 1 end")
  local function run(n)
    local st = { acc = 0, pc = 0 }
    for _ = 1, n do for i = 1, #ops do ops[i](st) end end
    return st.acc
  end
  assert(run(100000) == 100000 * 210)
  assert(counters(true).disabled == 0, "traces were disabled before the functions that they call were compiled")
end

jit.opt.start("hotloop=20", "hotexit=5")

-- Runs `f` until all is compiled, then once more: how often that went from the interpreter into compiled code, by how many exits it came
-- back, and how many traces there are.
local function measure(f, n)
  local from = counters(true)
  for _ = 1, 40 do f(n) end
  local before = counters(true)
  local result = f(n)
  local after = counters(true)
  return after.entered - before.entered, after.deopt - before.deopt, before.closed - from.closed, result
end

-- In a loop: the trace of the loop, that of each function, and one from the call to the end of the loop.
local adds = functions(40, "return function(x) return x + $ end")
local function loop(n)
  local s = 0
  for r = 1, n do for i = 1, #adds do s = s + adds[i](r) end end
  return s
end
local entered, left, closed, result = measure(loop, 200)
assert(result == 200 * 820 + 40 * 20100, result)
assert(entered <= 20 and left <= 20, "calls are left to the interpreter: " .. entered .. " " .. left)
assert(closed <= 40 + 15, closed)

-- As statements at the end of a loop, where nothing but the end of the loop follows.
local counts = functions(40, "return function(st) st.n = st.n + $ end")
local function statements(n)
  local st = { n = 0 }
  for r = 1, n do for i = 1, #counts do counts[i](st) end end
  return st.n
end
entered, left, closed, result = measure(statements, 200)
assert(result == 200 * 820, result)
assert(entered <= 20 and left <= 20, "calls are left to the interpreter: " .. entered .. " " .. left)
assert(closed <= 40 + 15, closed)

-- Tail calls.
local N, code, ops = 20, {}, {}
local x = 42
for i = 1, 1000 do
  x = x * 16807 % 2147483647
  code[i] = x % N + 1
end
for i, op in ipairs(functions(N, [[
  local ops, code = ...
  return function(st)
    local pc = st.pc + 1
    st.pc, st.sum = pc, st.sum + $
    if pc >= st.last then return st.sum end
    return ops[code[pc % 1000 + 1] ](st)
  end]], ops, code)) do ops[i] = op end
local function threaded(n) return ops[1]({ pc = 0, sum = 0, last = n }) end
entered, left, closed, result = measure(threaded, 20000)
assert(entered <= 20 and left <= 20, "tail calls are left to the interpreter: " .. entered .. " " .. left)
jit.off()
assert(result == threaded(20000))
jit.on()

-- More tail calls, one after the other, than a trace follows: it ends in front of the next one.
local chain = {}
for i = 1, 40 do
  chain[i] = assert(loadstring(([[
    local chain = ...
    return function(n, s)
      if n == 0 then return s end
      return chain[NEXT](n - 1, s + NEXT)
    end]]):gsub("NEXT", i % 40 + 1)))(chain)
end
local function around(n) return chain[40](n, 0) end
entered, left, closed, result = measure(around, 4000)
assert(result == 100 * 820, result)
assert(entered <= 20 and left <= 20, "tail calls are left to the interpreter: " .. entered .. " " .. left)
print("ok")
