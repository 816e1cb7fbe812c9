-- Closures: shared upvalues, upvalues of upvalues, recursion, identity, and life after the scope ended.

-- Two closures over one variable.
local function cell(v)
  return function() return v end, function(x) v = x end
end
local get1, set1 = cell(1)
local get2, set2 = cell(2)
set1(10)
set2(get1() + get2())
print(get1(), get2())

-- Through several levels, with the outer frame alive and dead.
local function outer()
  local a = 1
  local function middle()
    local b = 10
    local function inner()
      a = a + 1
      b = b + a
      return a, b
    end
    return inner, function() return a, b end
  end
  local inner, peek = middle()
  inner()
  a = a + 100
  return inner, peek, function() return a end
end
local inner, peek, see = outer()
print(peek())
print(inner())
print(inner())
print(peek())
print(see())

-- Parameters and varargs as upvalues.
local function bind(f, a, b)
  return function(...) return f(a, b, ...) end
end
print(bind(math.max, 3, 9)(4, 7), bind(function(...) return select("#", ...) end)(nil, nil))
local function pack(...)
  local n, t = select("#", ...), { ... }
  return function() return n, unpack(t, 1, n) end
end
print(pack(1, nil, 3, nil)())

-- Loop variables are fresh for each round.
local fs = {}
for i = 1, 3 do
  local j = i * i
  fs[i] = function(d)
    i, j = i + d, j - d
    return i, j
  end
end
fs[1](5)
print(fs[1](0), fs[2](0))
print(fs[3](1))
for k, v in pairs { "x" } do fs[k] = function() v = v .. k return v end end
print(fs[1](), fs[1]())

-- Recursion through a local function and through an upvalue.
local function fact(n) return n <= 1 and 1 or n * fact(n - 1) end
print(fact(10))
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
print(even(20), odd(7), even(7))
local notyet = function() return notyet end
print(notyet())

-- The Y combinator, currying, composition.
local function fix(f)
  return (function(x) return x(x) end)(function(x) return f(function(...) return x(x)(...) end) end)
end
print(fix(function(self) return function(n) return n < 2 and n or self(n - 1) + self(n - 2) end end)(15))
local function curry(n, f, ...)
  local args, have = { ... }, select("#", ...)
  if have >= n then return f(...) end
  return function(x)
    args[have + 1] = x
    return curry(n, f, unpack(args, 1, have + 1))
  end
end
print(curry(3, function(a, b, c) return a .. b .. c end)("x")("y")("z"))

-- Identity: each evaluation gives a new function when it must.
local made = {}
for i = 1, 2 do made[i] = function() return i end end
print(made[1] ~= made[2], made[1] == made[1], rawequal(made[1], made[2]))

-- An upvalue shared by siblings made in different rounds of a loop around it.
local shared = 0
local bump = {}
for i = 1, 3 do bump[i] = function() shared = shared + i return shared end end
print(bump[1](), bump[2](), bump[3](), shared)
shared = 100
print(bump[3](), shared)

-- Upvalues closed by a goto out, by break, by return and by an error.
local function leave(how)
  local g
  local ok = pcall(function()
    for i = 1, 3 do
      local v = how .. i
      g = function() v = v .. "!" return v end
      if how == "break" then break end
      if how == "return" then return end
      if how == "error" then error("x") end
    end
  end)
  return ok, g(), g()
end
print(leave("break"))
print(leave("return"))
print(leave("error"))
print(leave("end"))

-- Many upvalues in one function; assignment to several at once.
local a, b, c, d, e, f, g, h = 1, 2, 3, 4, 5, 6, 7, 8
local function rotate() a, b, c, d, e, f, g, h = h, a, b, c, d, e, f, g end
rotate()
rotate()
print(a, b, c, d, e, f, g, h)
print(debug.upvalueid and debug.upvalueid(rotate, 1) ~= debug.upvalueid(rotate, 2))

-- A counter object out of closures with a private table.
local function stack()
  local items, n = {}, 0
  return {
    push = function(...)
      for i = 1, select("#", ...) do n = n + 1 items[n] = (select(i, ...)) end
      return n
    end,
    pop = function()
      local v = items[n]
      items[n] = nil
      n = n > 0 and n - 1 or 0
      return v
    end,
  }
end
local s1, s2 = stack(), stack()
print(s1.push("a", "b", "c"), s2.push("z"), s1.pop(), s1.pop(), s2.pop(), s2.pop(), s1.pop(), s1.pop())
print("ok")
