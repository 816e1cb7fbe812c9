-- Traces go from coroutine to coroutine: once they are made, loops that resume and yield hardly come back to the interpreter. How many
-- there are depends on the code, and not on how many coroutines run it.
local util = require "jit.util"
local counters = util.counters
jit.opt.start("hotloop=20", "hotexit=5")
jit.off(true)

local create, resume, yield, wrap = coroutine.create, coroutine.resume, coroutine.yield, coroutine.wrap

-- Each makes a function that is run some times.
local programs = {}
function programs.generator(n)
  return function()
    local s = 0
    for v in wrap(function() for i = 1, n do yield(i) end end) do s = s + v end
    return s, n * (n + 1) / 2
  end
end
function programs.chain(n)
  local function source() return create(function() for i = 1, n do yield(i) end end) end
  local function double(from)
    return create(function()
      while true do
        local _, v = resume(from)
        if not v then return end
        yield(v * 2)
      end
    end)
  end
  return function()
    local co, s = double(double(source())), 0
    while true do
      local _, v = resume(co)
      if not v then return s, n * (n + 1) * 2 end
      s = s + v
    end
  end
end
function programs.tasks_of_one_kind(n)
  local tasks = {}
  for i = 1, n do tasks[i] = create(function(x) local s = i while true do s = s + x x = yield(s) end end) end
  return function()
    local all = 0
    for _ = 1, 20 do
      for i = 1, n do
        local _, s = resume(tasks[i], i)
        all = all + s - s
      end
    end
    return all, 0
  end
end
function programs.short_ones(n)
  return function()
    local s = 0
    for i = 1, n do
      local co = create(function(a) local b = yield(a) return b end)
      local _, x = resume(co, i)
      local _, y = resume(co, x + 1)
      s = s + y - x
    end
    return s, n
  end
end
function programs.recursive_generator(n)
  local function range(a, b)
    if a == b then return yield(a) end
    local middle = math.floor((a + b) / 2)
    range(a, middle)
    range(middle + 1, b)
  end
  return function()
    local s = 0
    for v in wrap(function() range(1, n) end) do s = s + v end
    return s, n * (n + 1) / 2
  end
end
function programs.under_pcall(n)
  return function()
    local co, s = wrap(function() while true do pcall(yield, 1) pcall(function() yield(2) end) end end), 0
    for _ = 1, n do s = s + co() + co() end
    return s, 3 * n
  end
end

-- What is made, and how often compiled code is entered, in so many rounds.
local function measure(make, n)
  jit.flush()
  local run = make(n)
  local before = counters()
  for _ = 1, 30 do
    local is, should = run()
    assert(is == should, is)
  end
  local warm = counters()
  for _ = 1, 10 do run() end
  local after = counters()
  return warm.closed - before.closed, after.entered - warm.entered
end

-- Exits without a side trace, for each round of 10: what is left where it ends.
local entered = {
  generator = 80, chain = 120, tasks_of_one_kind = 40, short_ones = 40, recursive_generator = math.huge, under_pcall = math.huge,
}
local failures = {}
for name, make in pairs(programs) do
  -- How many there are also hangs on which of them is first: the most of three.
  local few = math.max((measure(make, 100)), (measure(make, 150)), (measure(make, 200)))
  local many, times = measure(make, 400)
  if few == 0 or many > few * 1.3 + 4 or times > entered[name] then
    failures[#failures + 1] = ("%s: %d and %d traces, entered %d times"):format(name, few, many, times)
  end
end
assert(#failures == 0, "\n" .. table.concat(failures, "\n"))

-- Seven places where coroutines go on have traces; with more, the call is left to the interpreter.
local kinds = {}
for i = 1, 20 do
  kinds[i] = create(assert(loadstring("local yield = coroutine.yield while true do yield(" .. i .. ") end")))
end
jit.flush()
local before = counters().closed
local s = 0
local function run(n) for i = 1, n do local _, v = resume(kinds[i % 20 + 1]) s = s + v end end
jit.on(run)
run(20000)
assert(s == 210000, s)
assert(counters().closed - before < 60, counters().closed - before)
print "ok"
