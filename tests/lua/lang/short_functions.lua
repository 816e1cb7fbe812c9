-- Short functions.

local inc = x -> x + 1
local add = |a, b| -> a + b
local five = || -> 5
local also = | | -> 6
local all = |...| -> do return select("#", ...), ... end
local first = |a, ...| -> select("#", ...)
print(inc(1), add(1, 2), five(), also(), all(1, nil, 3), first(1, 2, 3))
local curry = x -> y -> z -> x + y + z
print(curry(1)(2)(3), (x -> x * 2)(21), ((|a, b| -> a .. b)("x", "y")))
local block = |x| -> do local y = x * 2 if y > 5 then return y end return -y end
print(block(2), block(3), (x -> do end)(1))
local fact
fact = n -> n <= 1 ? 1 : n * fact(n - 1)
print(fact(6))

-- One expression, whose calls are tail calls with all their results.
local pair = x -> unpack { x, x + 1 }
print(pair(1))
local list = { x -> x, y = x -> x * 2, || -> 3, [4] = |a| -> a }
print(list[1](1), list.y(2), list[2](), list[4](4), #list)
local function apply(f, ...) return f(...) end
print(apply(x -> x + 1, 5), apply(|a, b| -> a * b, 6, 7), apply(|...| -> select("#", ...), 1, 2, 3))
print(apply(x -> x, 1), 2)
print(true ? (x -> x + 1)(1) : 0, (true ? x -> 1 : x -> 2)(), (nil ?? x -> 3)())
table.sort(list, |a, b| -> tostring(a) < tostring(b))
local n = 0
local count = || -> do n += 1 return n end
count() count()
print(n, (_ -> 1)(), (const -> const)(2), (goto -> goto)(3), (continue -> continue)(4))
local info = debug.getinfo(x ->
  x, "S")
print(info.what, info.linedefined, info.lastlinedefined, debug.getinfo(|a, b, ...| -> 1, "u").nparams, debug.getinfo(|a, ...| -> 1, "u").isvararg, debug.getinfo(a -> a, "u").nparams)
print(pcall(x -> x.y.z, {}))
print(pcall(x -> error(x, 0), "raised"))

for _, source in ipairs {
  "x -> x", "|x| -> x", "|| -> 1", "return x ->", "return |x|", "return |x| x", "return |x,| -> x", "return |x y| -> x", "return |x", "return |1| -> 1", "return (x) -> x", "return x, y -> x",
  "return x -> do return x", "return x -> return x", "local f = || ", "return x.y -> 1", "return |x| -> ...", "return |...| -> ...", "return x -> 1, 2", "return -x -> x", "return x - > x", "f(x -> x) -> y",
  "return || -> || -> 1", "return x -> y ? 1 : 2", "return c ? x -> 1 : 2", "return c ? x -> y:z() : 2", "return |...|, x| -> 1", "return |..., x| -> 1", "return x -> function() end", "return x -> {x}", "local x -> 1",
} do
  print(source, select(2, loadstring(source, "=s")) or "compiles")
end

local sum = 0
local step = |s, x| -> s + x
for i = 1, 300 do sum = step(sum, i) sum = (x -> x - 1)(sum) end
print(sum)
