-- Variable arguments, select, unpack, and how value lists are cut and padded.

local function count(...) return select("#", ...) end
print(count(), count(nil), count(nil, nil), count(1, nil, 3, nil), count(unpack({}, 1, 5)))
local function first(...) return (...) end
print(first(), first(1, 2), first(nil, 2))
local function all(...) return ... end
print(all(1, 2, 3), all(4, 5))
print((all(1, 2, 3)), all())
local function tail(_, ...) return ... end
print(tail(1, 2, 3), tail(1), tail())
print(count(tail(1, nil, nil)), count(tail()))

-- In table constructors.
local function pack(...) return { n = select("#", ...), ... } end
local t = pack(1, nil, 3)
print(t.n, t[1], t[2], t[3])
local function mixed(...) return { ..., "end" }, { "start", ... }, { (...) } end
local x, y, z = mixed("a", "b", "c")
print(#x, x[1], x[2], #y, y[4], #z)

-- select.
print(select(2, "a", "b", "c"), select(-1, "a", "b", "c"), select(-2, "a", "b", "c"))
print(select(3, "a", "b"), count(select(3, "a", "b")), select("#"), select("#", nil))
print(pcall(select, 0, 1), pcall(select, -2, 1), pcall(select))
print(select(2.9, "a", "b", "c"))

-- unpack.
print(unpack { 1, 2, 3 })
print(unpack({ 1, 2, 3 }, 2), unpack({ 1, 2, 3 }, 2, 2))
print(unpack({ 1, 2 }, 0, 3))
print(count(unpack({}, 1, 0)), count(unpack({}, 1, 200)), unpack({ [-1] = "m", [0] = "z", "a" }, -1, 1))
print(pcall(unpack, {}, 1, 1e8))
print(pcall(unpack))
print((select("#", unpack({}, 1, 5000))))

-- Padding and cutting in calls, assignments and returns.
local function two() return 1, 2 end
local function none() end
local a, b, c = two()
print(a, b, c)
a, b, c = 0, two()
print(a, b, c)
a, b, c = two(), 10
print(a, b, c)
a, b, c = none()
print(a, b, c)
a, b = none(), 5
print(a, b)
local function f(p, q, r) return p, q, r end
print(f(1), f(1, 2, 3, 4))
print(f(two(), two()))
print(f((two())), f(none(), 1))
print(f(f(f(1, 2))))

-- Passing on many values through several levels.
local function sum(...)
  local total = 0
  for i = 1, select("#", ...) do total = total + (select(i, ...) or 0) end
  return total, ...
end
local many = {}
for i = 1, 200 do many[i] = i end
print((sum(unpack(many))), select("#", sum(unpack(many))), (select(101, sum(unpack(many)))))
print((sum(sum(sum(1, 2, 3)))))
local function recur(n, ...)
  if n == 0 then return ... end
  return recur(n - 1, n, ...)
end
print(recur(10))
print(select("#", recur(150)))
local function nontail(n, ...)
  if n == 0 then return select("#", ...) end
  local r = nontail(n - 1, n, ...)
  return r + 0
end
print(nontail(60, "a", "b"))

-- Varargs with closures and coroutines; the main chunk has its own.
local function later(...)
  local args = pack(...)
  return function(...) return args.n, select("#", ...), args[args.n], (...) end
end
print(later(1, nil, "last")("x", "y"))
local co = coroutine.wrap(function(...)
  local got = pack(...)
  while true do got = pack(coroutine.yield(got.n, unpack(got, 1, got.n))) end
end)
print(co())
print(co(1, nil))
print(co(nil, nil, 3))
print(select("#", ...), ... == nil)

-- `arg` is not created in vararg functions.
local function noarg(...) return type(arg) == "table" and arg.n end
print(noarg(1, 2))

-- Assigning to parameters does not touch the varargs, and the other way round.
local function own(p, ...)
  p = "changed"
  local q, r = ...
  q = "mine"
  return p, q, r, ...
end
print(own(1, 2, 3))
-- Fewer and more arguments than a loop of calls expects.
local function opt(a1, b1, ...) return a1 == nil, b1 == nil, select("#", ...) end
for n = 0, 4 do print(n, opt(unpack({ 1, 2, 3, 4 }, 1, n))) end
print(string.format("%s %s", all("x", "y", "z")), math.max(all(3, 1, 2)), ("x"):rep(all(2, "-", "ignored")))
print("ok")
