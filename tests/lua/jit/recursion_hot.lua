-- Recursive functions that become hot: up-recursion, down-recursion, tail recursion, mutual recursion.

-- Two calls each, with unwinding in all depths.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
for _, n in ipairs { 1, 5, 10, 15, 20, 23 } do io.write(fib(n), " ") end
print()
local function fibf(n) if n < 2 then return n + 0.5 end return fibf(n - 1) + fibf(n - 2) end
print(fibf(18))
local calls = 0
local function fibc(n) calls = calls + 1 if n < 2 then return n end return fibc(n - 1) + fibc(n - 2) end
print(fibc(18), calls)

-- One call: the depth varies.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
local total = 0
for i = 1, 200 do total = total + sum(i) end
print(total, sum(5000))
local function count(list) return list and 1 + count(list.next) or 0 end
local list
for i = 1, 300 do
  list = { next = list }
  if i % 50 == 0 then io.write(count(list), " ") end
end
print()

-- Tail recursion with accumulators; swapped arguments; changing types.
local function tail(n, acc) if n == 0 then return acc end return tail(n - 1, acc + n) end
print(tail(10, 0), tail(100, 0), tail(100000, 0), tail(100, 0.5))
local function gcd(a, b) if b == 0 then return a end return gcd(b, a % b) end
local g = 0
for i = 1, 300 do g = g + gcd(i * 12, 360) + gcd(1071, i) end
print(g)
local function types(n, v) if n == 0 then return v end if n == 50 then return types(n - 1, v .. "") end return types(n - 1, v + 1) end
print(types(200, 0), types(100, 1.5), types(40, 0))

-- Mutual recursion, three functions.
local f, h, k
function f(n) if n <= 0 then return 1 end return h(n - 1) + 1 end
function h(n) if n <= 0 then return 2 end return k(n - 2) * 2 % 1009 end
function k(n) if n <= 0 then return 3 end return f(n - 1) + f(n - 3) end
local m = 0
for i = 1, 30 do m = m + f(i) end
print(m)

-- Trees: build, walk, mirror, with different shapes.
local function build(d, tag) if d == 0 then return nil end return { tag = tag, l = build(d - 1, tag * 2), r = d % 3 ~= 0 and build(d - 1, tag * 2 + 1) or nil } end
local function walk(t, depth) if not t then return 0 end return t.tag % 7 * depth + walk(t.l, depth + 1) + walk(t.r, depth + 1) end
local function mirror(t) if not t then return nil end return { tag = t.tag, l = mirror(t.r), r = mirror(t.l) } end
local tree = build(11, 1)
print(walk(tree, 1), walk(mirror(tree), 1), walk(mirror(mirror(tree)), 1))

-- Ackermann, hanoi, permutations, n queens in small.
local function ack(a, b) if a == 0 then return b + 1 end if b == 0 then return ack(a - 1, 1) end return ack(a - 1, ack(a, b - 1)) end
print(ack(1, 50), ack(2, 20), ack(2, 30))
local moves = 0
local function hanoi(n, a, b, c) if n > 0 then hanoi(n - 1, a, c, b) moves = moves + (a - b) * n hanoi(n - 1, c, b, a) end end
hanoi(10, 1, 3, 2)
print(moves)
local perms = 0
local function permute(a, n)
  if n == 1 then perms = (perms * 3 + a[1] * 7 + a[#a]) % 1000003 return end
  for i = 1, n do
    a[i], a[n] = a[n], a[i]
    permute(a, n - 1)
    a[i], a[n] = a[n], a[i]
  end
end
permute({ 1, 2, 3, 4, 5, 6 }, 6)
print(perms)

-- Several results through recursion; varargs through recursion; recursion in arguments.
local function minmax(t, i) if i == #t then return t[i], t[i] end local lo, hi = minmax(t, i + 1) return math.min(lo, t[i]), math.max(hi, t[i]) end
local values = {}
for i = 1, 150 do values[i] = i * 73 % 151 end
print(minmax(values, 1))
local function spread(n, ...) if n == 0 then return select("#", ...), ... end return spread(n - 1, n, ...) end
print((spread(100)), select(2, spread(5)))
local function nested(n) if n <= 0 then return 0 end return nested(n - 1 - nested(n - 3) % 2) + 1 end
print(nested(18))

-- Recursion through a table field, a method, an upvalue that is replaced.
local M = {}
function M.pow(b, e) if e == 0 then return 1 end local x = M.pow(b, (e - e % 2) / 2) if e % 2 == 1 then return x * x * b % 10007 end return x * x % 10007 end
function M:depth(n) if n == 0 then return self == M and 1 or 0 end return self:depth(n - 1) + 1 end
local p = 0
for i = 1, 300 do p = p + M.pow(3, i) end
print(p, M:depth(500))
local r
r = function(n) if n == 0 then return 0 end return r(n - 1) + 1 end
local r1 = r
print(r(100))
r = function() return 1000 end
print(r1(100))
print("ok")
