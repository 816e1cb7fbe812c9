-- const.

const a, b = 1, 2
const c = a + b
print(a, b, c)
const none, two = (function() return nil, 2 end)()
print(none, two)
const t = { n = 1 }
t.n = 2
t.m, t.k = 3, 4
t.n += 1
print(t.n, t.m, t.k)
const function fact(n) return n <= 1 ? 1 : n * fact(n - 1) end
print(fact(5))
const nothing
print(nothing)
const up = 10
local function f() const inner = up + 1 return function() return inner + up end end
print(f()())
do const scoped = 1 end
local scoped = 2
scoped = 3
print(scoped)
for i = 1, 2 do const j = i * 2 io.write(j, " ") end
print()

-- A name wherever no declaration follows.
local const = 4
const = const + 1
const += 1
print(const, ({ const = 7 }).const)
do local u = { const = function(x) return x end } print(u.const(8)) end
goto const
::const::

for _, source in ipairs {
  "const x = 1 x = 2", "const x = 1 x += 2", "const x x = 1", "const x, y = 1, 2 y = 3", "local y const x = 1 y, x = 2, 3", "const x = 1 return function() x = 2 end",
  "const x = 1 return function() return function() x ..= 2 end end", "const x = 1 local x", "const x = 1 const x", "const x, x", "const x, y, x = 1", "local x const x = 1 x = 2",
  "const x = 1 do local x end", "const x = 1 for x = 1, 2 do end", "const x = 1 for k, x in y do end", "const x = 1 function f(x) end", "const x = 1 return function(x) end",
  "const x = 1 return x -> x", "const x = 1 return |y, x| -> y", "const self = 1 function t:m() end", "const self = 1 function t.m() end", "const x = 1 local function x() end",
  "const function f() end f = 1", "const function f() end function f() end", "const function f() f = 1 end", "const f = 1 function f.g() end", "const f = function() local f = 1 end",
  "const f = function() f = 1 end", "do const x = 1 end x = 2", "const x = 1 ::x:: goto x", "const 5", "const", "const x = ", "const x y", "const x.y = 1", "const function t.f() end",
  "const = 1", "const x <const> = 1", "const a = 1 local b, a = 2", "const x = 1 x?.y = 2", "const x = 1 x.y = 2", "local const x", "const goto = 1 goto = 2", "const const = 1 const = 2", "const x = 1 x, y = 1",
} do
  print(source, select(2, loadstring(source, "=s")) or "compiles")
end

const limit, step = 300, 2
local sum = 0
for i = 1, limit, step do const sq = i * i sum += sq end
print(sum)
