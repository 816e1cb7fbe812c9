-- Coroutines: passing values both ways, status, wrap, generators, nesting, many at once.

-- Values in and out.
local co = coroutine.create(function(a, b, ...)
  print("start", a, b, select("#", ...), ...)
  local x, y = coroutine.yield(a + b)
  print("resumed", x, y)
  local n = select("#", coroutine.yield())
  print("count", n)
  print("nothing", coroutine.yield(nil, nil))
  return "done", x, nil
end)
print(coroutine.status(co))
print(coroutine.resume(co, 1, 2, "e", nil))
print(coroutine.status(co))
print(coroutine.resume(co, "x", "y"))
print(coroutine.resume(co, nil, nil, nil))
print(coroutine.resume(co))
print(coroutine.status(co))
print(coroutine.resume(co))
print(coroutine.resume(co, 1))

-- wrap.
local gen = coroutine.wrap(function(n)
  for i = 1, n do coroutine.yield(i, i * i) end
  return "end"
end)
print(gen(2), type(gen))
print(gen())
print(gen())
print(pcall(gen))
local squares = {}
for i, sq in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i, i * i) end end) do squares[i] = sq end
print(table.concat(squares, " "))

-- Status as seen from inside and outside; running.
local outer
outer = coroutine.create(function()
  print("self", coroutine.status(outer), coroutine.running() == outer)
  local inner = coroutine.create(function()
    print("outer", coroutine.status(outer))
    print(coroutine.resume(outer))
    print(coroutine.resume(coroutine.running()))
  end)
  print("inner", coroutine.status(inner))
  coroutine.resume(inner)
  print("inner", coroutine.status(inner))
end)
coroutine.resume(outer)
print(coroutine.status(outer), coroutine.running())
print(coroutine.isyieldable(), coroutine.wrap(function() return coroutine.isyieldable() end)())

-- A recursive generator: permutations.
local function permute(a, n)
  if n <= 1 then
    coroutine.yield(table.concat(a))
  else
    for i = n, 1, -1 do
      a[n], a[i] = a[i], a[n]
      permute(a, n - 1)
      a[n], a[i] = a[i], a[n]
    end
  end
end
local all = {}
for p in coroutine.wrap(function() permute({ "a", "b", "c" }, 3) end) do all[#all + 1] = p end
print(table.concat(all, " "))

-- Generators in chains.
local function range(a, b) return coroutine.wrap(function() for i = a, b do coroutine.yield(i) end end) end
local function filter(p, g) return coroutine.wrap(function() for v in g do if p(v) then coroutine.yield(v) end end end) end
local function map(f, g) return coroutine.wrap(function() for v in g do coroutine.yield(f(v)) end end) end
local sum = 0
for v in map(function(x) return x * 2 end, filter(function(x) return x % 3 == 0 end, range(1, 100))) do sum = sum + v end
print(sum)

-- Two coroutines that resume each other in turns through a dispatcher.
local log = {}
local function player(name)
  return coroutine.create(function(ball)
    for _ = 1, 3 do
      log[#log + 1] = name .. ball
      ball = coroutine.yield(ball + 1)
    end
    return "over"
  end)
end
local p, q, ball = player "p", player "q", 0
for turn = 1, 6 do
  local _, value = coroutine.resume(turn % 2 == 1 and p or q, ball)
  ball = value
end
print(table.concat(log, " "), coroutine.resume(p, 99))

-- Upvalues are shared between coroutines and their maker.
local shared = 0
local workers = {}
for i = 1, 3 do workers[i] = coroutine.wrap(function() while true do shared = shared + i coroutine.yield(shared) end end) end
for _ = 1, 3 do for i = 1, 3 do workers[i]() end end
print(shared)
shared = 100
print(workers[1]())

-- Many alive at once; each with its own stack.
local many = {}
for i = 1, 2000 do
  many[i] = coroutine.create(function(x)
    local acc = x
    while true do acc = acc + coroutine.yield(acc) end
  end)
  coroutine.resume(many[i], i)
end
local total = 0
for round = 1, 3 do
  for i = 1, #many do
    local _, v = coroutine.resume(many[i], round)
    total = total + v
  end
end
print(total)

-- Deep nesting: a coroutine in a coroutine, a hundred levels down, values coming all the way up.
local function nest(n)
  if n == 0 then return coroutine.yield("bottom") end
  local inner = coroutine.wrap(nest)
  local v = inner(n - 1)
  while v do
    v = inner(coroutine.yield(v .. n % 10))
    if v == "finish" then return v end
  end
end
local nested = coroutine.wrap(nest)
print(nested(60))
print(nested("finish"))

-- Yield from deep recursion inside one coroutine.
local function dive(n) if n == 0 then return coroutine.yield("deep") end return dive(n - 1) + 1 end
local d = coroutine.create(dive)
print(coroutine.resume(d, 5000))
print(coroutine.resume(d, 10))

-- Builtins as the body; a coroutine that is never finished; one that returns at once.
print(coroutine.resume(coroutine.create(math.max), 3, 9, 2))
print(coroutine.wrap(string.rep)("ab", 3))
print(coroutine.wrap(pcall)(error, "e"))
print(select("#", coroutine.resume(coroutine.create(function() end))))
print(coroutine.wrap(function(...) return select("#", ...) end)(nil, nil))
do local _ = coroutine.wrap(function() coroutine.yield() end)() end
collectgarbage()
print(pcall(coroutine.yield, 1))
print(coroutine.resume(coroutine.create(coroutine.yield), "direct"))
print("ok")
