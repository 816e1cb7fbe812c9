-- Coroutines created, resumed and left in hot loops; hot loops inside coroutines.

-- A generator driven by a hot loop.
local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sum = 0
for v in gen(1000) do sum = sum + v end
print(sum)

-- Many short coroutines.
sum = 0
for i = 1, 500 do
  local co = coroutine.wrap(function(a)
    local b = coroutine.yield(a + 1)
    return a + b
  end)
  sum = sum + co(i) + co(i * 2)
end
print(sum)

-- Values both ways for long; status in the loop.
local co = coroutine.create(function(x)
  local acc = 0
  while x do
    acc = acc + x
    x = coroutine.yield(acc)
  end
  return "done", acc
end)
local last
for i = 1, 800 do
  local ok, v = coroutine.resume(co, i)
  assert(ok and coroutine.status(co) == "suspended")
  last = v
end
print(last, coroutine.resume(co, nil))
print(coroutine.status(co))

-- A loop gets hot inside, is left by yield now and then, and goes on where it was.
local worker = coroutine.wrap(function()
  local a, b, c = 1, 1.5, "s"
  for i = 1, 10000 do
    a = (a * 3 + i) % 1009
    b = b + a / 7
    if i % 500 == 0 then
      c = c .. i
      a = a + coroutine.yield(a, b, #c)
    end
  end
  return "end", b, c
end)
local out = {}
for i = 1, 20 do
  local x, y, z = worker(i)
  out[i] = x .. "/" .. z
end
print(table.concat(out, " "))
local e, b, c = worker(5)
print(e, string.format("%.6f", b), #c)

-- Producer, filter, consumer.
local function producer() return coroutine.wrap(function() for i = 1, 600 do coroutine.yield(i % 7 == 0 and "skip" or i) end end) end
local function filter(source) return coroutine.wrap(function() for v in source do if v ~= "skip" then coroutine.yield(v * 2) end end end) end
local n, total = 0, 0
for v in filter(filter(producer())) do n, total = n + 1, total + v end
print(n, total)

-- Round robin over many tasks of different length.
local tasks, finished = {}, {}
for id = 1, 20 do
  tasks[id] = coroutine.create(function()
    local work = 0
    for step = 1, id * 5 do
      for k = 1, step % 4 do work = work + k end
      coroutine.yield()
    end
    finished[#finished + 1] = id
    return work
  end)
end
local turns, results = 0, 0
while #tasks > 0 do
  for i = #tasks, 1, -1 do
    turns = turns + 1
    local ok, r = coroutine.resume(tasks[i])
    assert(ok)
    if coroutine.status(tasks[i]) == "dead" then
      results = results + r
      table.remove(tasks, i)
    end
  end
end
print(turns, results, table.concat(finished, " "))

-- Recursive generators.
local function tree(d) if d > 0 then return { l = tree(d - 1), v = d, r = tree(d - 1) } end end
local function walk(t) if t then walk(t.l) coroutine.yield(t.v) walk(t.r) end end
local seq = 0
for v in coroutine.wrap(function() walk(tree(8)) end) do seq = (seq * 3 + v) % 10007 end
print(seq)
local function deep(d) if not d then return end for v in coroutine.wrap(function() coroutine.yield(d.v) deep(d.l) end) do coroutine.yield(v) end end
local ds = 0
for v in coroutine.wrap(function() deep(tree(6)) end) do ds = ds * 10 + v end
print(ds)

-- Errors inside, caught by resume and by pcall around yields.
local bad, good = 0, 0
for i = 1, 400 do
  local ok, err = coroutine.resume(coroutine.create(function() if i % 4 == 0 then error({ n = i }) end return i end))
  if ok then good = good + err else bad = bad + err.n end
end
print(bad, good)
local guarded = coroutine.wrap(function()
  local failures = 0
  for i = 1, 500 do
    local ok = pcall(function()
      coroutine.yield(i)
      if i % 5 == 0 then error("x") end
    end)
    if not ok then failures = failures + 1 end
  end
  return "failures " .. failures
end)
local v
repeat v = guarded() until type(v) == "string"
print(v)

-- The same hot function on several stacks, with upvalues shared between them.
local shared = 0
local function hot(k)
  for i = 1, 50 do shared = shared + i % k end
  return shared
end
local stacks = {}
for i = 1, 10 do stacks[i] = coroutine.wrap(function() while true do coroutine.yield(hot(i)) end end) end
for round = 1, 10 do
  hot(round)
  for i = 1, 10 do stacks[i]() end
end
print(shared)
print("ok")
