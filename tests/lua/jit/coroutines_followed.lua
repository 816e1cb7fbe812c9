-- Traces that follow resumes and yields from coroutine to coroutine.
local create, resume, yield, wrap, status = coroutine.create, coroutine.resume, coroutine.yield, coroutine.wrap, coroutine.status
local N = 300

local function generator(n)
  return wrap(function() for i = 1, n do yield(i) end end)
end

do -- A generator in a for loop, to its end and left before.
  local s = 0
  for v in generator(N) do s = s + v end
  for v in generator(N) do s = s + v if v == 100 then break end end
  print("generator", s)
end

do -- Values both ways, of changing types and numbers.
  local co = wrap(function(...)
    local n, a, b = 0, ...
    while true do
      n = n + select("#", a, b)
      if n % 3 == 0 then a, b = yield(n, a) elseif n % 5 == 0 then a, b = yield() else a, b = yield(b, a, n) end
    end
  end)
  local t = {}
  for i = 1, N do
    local x, y, z = co(i, i % 7 == 0 and "s" or i + 0.5)
    t[#t + 1] = tostring(x) .. tostring(y) .. tostring(z)
  end
  print("values", #table.concat(t), t[7], t[150], t[N])
end

do -- All values: open lists on both sides.
  local co = create(function(...)
    local args = { ... }
    while true do args = { yield(unpack(args, 1, #args % 4 + 1)) } end
  end)
  local function count(...) return select("#", ...) end
  local total = 0
  for i = 1, N do
    total = total + count(resume(co, i, i, i)) * (i % 3 + 1)
    local r = { resume(co, unpack({ i, i + 1, i + 2, i + 3 }, 1, i % 5)) }
    total = total + #r
  end
  print("lists", total)
end

do -- A chain: producer, filter, consumer.
  local function producer() return create(function() for i = 1, N do yield(i) end return nil end) end
  local function filter(p)
    return create(function()
      while true do
        local _, v = resume(p)
        if not v then return nil end
        if v % 3 ~= 0 then yield(v * 2) end
      end
    end)
  end
  local f, s, ok, v = filter(filter(producer())), 0, nil, nil
  while true do
    ok, v = resume(f)
    if not v then break end
    s = s + v
  end
  print("chain", s, status(f), resume(f))
end

do -- Recursion inside, with returns below the frame that was resumed.
  local function tree(d) if d > 0 then return { tree(d - 1), d, tree(d - 1) } end end
  local function walk(t) if t then walk(t[1]) yield(t[2]) walk(t[3]) end end
  local t, s, n = tree(8), 0, 0
  -- (`tree` returns fewer than three values at the leaves.)
  for v in wrap(function() walk(t) end) do s, n = s * 3 % 1000 + v, n + 1 end
  print("tree", s, n)
end

do -- Coroutines in coroutines.
  local function iter(d)
    return wrap(function()
      if d > 0 then
        for v in iter(d - 1) do yield(v) end
        yield(d)
        for v in iter(d - 1) do yield(v) end
      end
    end)
  end
  local s = 0
  for v in iter(8) do s = s * 3 % 1000 + v end
  print("nested", s)
end

do -- Variables that both sides see: open upvalues in the other one's stack.
  local shared, calls = 0, 0
  local co = wrap(function()
    local mine = 0
    local function get() return mine end
    while true do
      mine = mine + shared
      calls = calls + 1
      shared = shared + 1
      yield(get)
      shared = shared - mine % 2
    end
  end)
  local s = 0
  for i = 1, N do
    local get = co()
    shared = shared + i % 3
    s = (s + get() + shared) % 100003
  end
  print("shared", s, shared, calls)
end

do -- A variable of each round, captured by what the other one keeps.
  local kept = {}
  local co = wrap(function(f) while true do kept[#kept + 1] = f f = yield(f()) end end)
  local s = 0
  for i = 1, N do
    local x = i
    local function f() x = x + 1 return x end
    s = s + co(f) + x
  end
  for i = 1, N do s = s + kept[i]() end
  print("captured", s)
end

do -- Many coroutines in turns, of two kinds, some of which die.
  local tasks = {}
  local work = 0
  local function add(k)
    tasks[#tasks + 1] = create(function(x)
      for i = 1, 20 + k do work = work + (i % k == 0 and 2 or 1) x = yield(work) if x == 77 then yield("early") end end
      return "done"
    end)
    tasks[#tasks + 1] = create(function()
      local t = { k }
      while #t < 15 + k do t[#t + 1] = #t yield(#t) end
      error("task " .. k, 0)
    end)
  end
  for k = 1, 10 do add(k) end
  local log, i = {}, 0
  while #tasks > 0 do
    for j = #tasks, 1, -1 do
      i = i + 1
      local ok, v = resume(tasks[j], i)
      if status(tasks[j]) == "dead" then log[#log + 1] = tostring(ok):sub(1, 1) .. tostring(v) table.remove(tasks, j) end
    end
  end
  print("scheduler", work, i, table.concat(log, " "))
end

do -- Yields out of protected calls, metamethods and iterators.
  local mt = {
    __index = function(_, k) return yield(k) or 0 end,
    __add = function(a, b) return yield("add") + (type(b) == "number" and b or 1) end,
    __lt = function() return yield("lt") end,
    __concat = function(_, b) return yield("..") .. tostring(b) end,
    __call = function(_, x) return yield(x) end,
  }
  local function pairwise(n) return function(_, i) if i < n then return i + 1, yield("it") end end, nil, 0 end
  local co = wrap(function()
    local t, s = setmetatable({}, mt), 0
    while true do
      local ok, v = pcall(function(x) return yield("p") + x end, 2)
      s = s + (ok and v or 0)
      ok, v = xpcall(function() local x = yield("x") if x % 5 == 0 then error("five", 0) end return x end, function(m) return m .. "!" end)
      s = s + (ok and v or #v)
      s = s + t.field + (t + 3) + t(4)
      if t < t then s = s + 1 end
      s = s + #(t .. "abc")
      for i, v in pairwise(3) do s = s + i * v end
      yield(s)
    end
  end)
  local seen, last = {}, 0
  for i = 1, N do
    local what = co(i)
    seen[what] = (seen[what] or 0) + 1
    if type(what) == "number" and what > last then last = what end
  end
  print("frames", seen.p, seen.x, seen.field, seen.add, seen.lt, seen[".."], seen.it, last)
end

do -- Errors: where they come from, and what is left.
  local function fails(co, i)
    local ok, e = resume(co, i)
    if ok then return 0 end
    return #tostring(e)
  end
  local s = 0
  for i = 1, N do
    local co = create(function(x) while true do x = yield(x) if x % 4 == 3 then error("x") end end end)
    resume(co)
    for j = 1, 5 do s = s + fails(co, j) end
  end
  local co = wrap(function() for i = 1, N do yield(i) end error("end of it") end)
  local ok, e
  repeat ok, e = pcall(co) until not ok
  print("errors", s, e)
  print(pcall(table.sort, { 3, 2, 1 }, function(a, b) yield() return a < b end))
  ok = 0
  local inner
  inner = wrap(function() for i = 1, N do if not pcall(inner) then ok = ok + 1 end yield() end end)
  for i = 1, N do inner() end
  print("itself", ok)
end

do -- What is seen from inside and from outside.
  local outer = create(function() yield() end)
  local n, lines = 0, {}
  local co
  co = create(function()
    local me = coroutine.running()
    while true do
      if me == co and status(co) == "running" and status(outer) == "suspended" then n = n + 1 end
      local level = 0
      while debug.getinfo(level + 1, "l") do level = level + 1 end
      n = n + level
      yield()
    end
  end)
  resume(outer)
  for i = 1, N do
    resume(co)
    if status(co) == "suspended" then n = n + 1 end
    if i % 50 == 0 then lines[#lines + 1] = select(2, debug.traceback(co):gsub("\n", "")) end
  end
  print("seen", n, table.concat(lines, " "))
end

do -- Stacks that grow, and small ones by the hundred.
  local function deep(n, x) if n == 0 then return yield(x) end return (deep(n - 1, x + 1)) end
  local s = 0
  for i = 1, N do
    local co = wrap(function(a) while true do a = deep(i % 40, a) end end)
    for j = 1, 6 do s = s + co(j) end
  end
  local function spread(n) if n > 0 then return n, spread(n - 1) end end
  for i = 1, 60 do
    local co = wrap(function() while true do yield(spread(i)) end end)
    for _ = 1, 4 do s = s + select("#", co()) end
  end
  print("stacks", s)
end

do -- Collections on the way.
  local co = wrap(function() local t = {} while true do t = { t[1], yield({ t }) } end end)
  local s = 0
  for i = 1, N do
    local t = co({ i })
    s = s + #t + (t[1][2] and t[1][2][1] or 0)
    if i % 100 == 0 then collectgarbage() end
  end
  print("collected", s)
end

do -- Functions that are traced by themselves, and loops inside that do not yield.
  local function send(x) yield(x) end
  local co = wrap(function() local i = 0 while true do i = i + 1 for j = 1, i % 20 do i = i + j % 2 end send(i) end end)
  local s = 0
  for i = 1, N do s = (s + co()) % 100003 end
  local function receive(c) local _, v = resume(c) return v end
  local c = create(function() local x = 0 repeat x = x + 1 yield(x) until false end)
  for i = 1, N do s = s + receive(c) end
  local t = create(function() local x = 0 while true do x = x + 1 (function(...) return yield(...) end)(x, x) end end)
  for i = 1, N do s = s + select("#", resume(t)) + select(3, resume(t)) end
  print("functions", s)
end
