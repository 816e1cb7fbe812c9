-- Tail calls use no stack, in every form; calls that only look like tail calls do.

-- A million of them, by itself, by turns, through methods, upvalues, fields and varargs.
local function down(n) if n == 0 then return "down" end return down(n - 1) end
print(down(1000000))
local ping, pong
function ping(n, acc) if n == 0 then return "ping", acc end return pong(n - 1, acc + 1) end
function pong(n, acc) if n == 0 then return "pong", acc end return ping(n - 1, acc + 2) end
print(ping(1000001, 0))
local o = { count = 0 }
function o:step(n)
  self.count = self.count + 1
  if n == 0 then return self.count end
  return self:step(n - 1)
end
print(o:step(300000))
local t = {}
function t.f(n, ...) if n == 0 then return select("#", ...), ... end return t.f(n - 1, ...) end
print(t.f(300000, "a", nil, "c", nil))
function global_tail(n, a, b) if n == 0 then return a, b end return global_tail(n - 1, b, a) end
print(global_tail(300001, "x", "y"))

-- With growing and shrinking arguments.
local function vary(n, ...)
  if n == 0 then return select("#", ...) end
  if n % 3 == 0 then return vary(n - 1) end
  return vary(n - 1, n, ...)
end
print(vary(100000), vary(100001), vary(100002))

-- Continuation passing.
local function fact(n, k)
  if n == 0 then return k(1) end
  return fact(n - 1, function(v) return k(n * v % 1000003) end)
end
print(fact(100, function(v) return v end))
local function loop(i, n, f) if i > n then return f end f(i) return loop(i + 1, n, f) end
local sum = 0
loop(1, 200000, function(i) sum = sum + i end)
print(sum)

-- State machines and trampolines.
local states = {}
function states.a(n, log) if n == 0 then return "a", log end return states.b(n - 1, log + 1) end
function states.b(n, log) if n == 0 then return "b", log end if n % 5 == 0 then return states.c(n - 1, log) end return states.a(n - 1, log) end
function states.c(n, log) if n == 0 then return "c", log end return states[n % 2 == 0 and "a" or "b"](n - 1, log * 2 % 1009) end
print(states.a(100000, 1))

-- A tail call of a builtin, of pcall, of a coroutine's resume, of a callable table, of what is not callable.
print((function(...) return select(2, ...) end)(1, 2, 3))
print((function(...) return math.max(...) end)(3, 9, 4))
print((function(f, ...) return pcall(f, ...) end)(error, "e"))
print((function() return coroutine.resume(coroutine.create(function(x) return x, x end), 5) end)())
print((function() return coroutine.wrap(function(...) return ... end)(1, 2) end)())
local callable = setmetatable({}, { __call = function(self, n) if n == 0 then return "called" end return self(n - 1) end })
print(callable(100000))
print(pcall(function() local x = 5 return x() end))
print(pcall(function() return nosuch() end))
print((function() return tostring(12) end)(), (function() return ("x"):rep(3) end)(), (function() return string.format("%d", 7) end)())

-- From inside loops, blocks and with open upvalues.
local function from_loop(n)
  for i = 1, 10 do
    local captured = i
    local f = function() return captured + n end
    if i == 3 then
      if n == 0 then return f() end
      return from_loop(n - 1)
    end
  end
end
print(from_loop(100000))

-- Not tail calls: parentheses, more values, arithmetic, a statement.
local function paren(n) if n == 0 then return 1, 2 end return (paren(n - 1)) end
print(paren(100))
local function extra(n) if n == 0 then return 1, 2 end return n, extra(n - 1) end
print(select("#", extra(50)), pcall(paren, 1e6) == false)

-- Mutual tail calls with the stack checked: a frame's locals are gone.
local function last(n) local a, b, c = n, n * 2, n * 3 if n == 0 then return a + b + c end return last(n - 1) end
print(last(100000))
-- A tail call that leaves through an error.
local function fail(n) if n == 0 then error("deep tail", 0) end return fail(n - 1) end
print(pcall(fail, 100000))
local function lazy(n) return n > 0 and lazy(n - 1) or n end
print(lazy(1000))
print("ok")
