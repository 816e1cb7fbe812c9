-- Exits at which there is nothing to do are taken by the interpreter alone: each is counted all the same, and a handler that comes later is
-- told of each.
local util = require("jit.util")
jit.opt.start("hotloop=10", "hotexit=20", "maxside=0")
local function deopt() return util.counters(true).deopt end

local function loop(n)
  local even, odd, half = 0, 0, 0
  for i = 1, n do
    if i % 2 == 0 then even = even + 1 else odd, half = odd + 1, half + 0.5 end
  end
  return even, odd, half
end
local function exits(n)
  local before = deopt()
  local even, odd, half = loop(n)
  local taken = deopt() - before
  assert(even == n / 2 and odd == n / 2 and half == n / 4)
  return taken
end

loop(100)
local few, many = exits(200), exits(20000)
assert(few >= 100 and few <= 101 and many - few == 9900, few .. " " .. many)

-- With a handler, without it, and once more.
local told = 0
local function handler() told = told + 1 end
jit.attach(handler, "texit")
local counted = exits(20000)
jit.attach(handler)
assert(told == counted and counted == many, told .. " " .. counted)
assert(exits(20000) == many and told == counted)

-- Exits are hot when they have been taken as often as was said, the first time as well as after many that were not looked at.
jit.flush()
jit.opt.start("hotloop=10", "hotexit=1000", "maxside=100")
loop(100)
local roots = util.counters(true).closed
assert(exits(1800) <= 901 and util.counters(true).closed == roots)
exits(400)
assert(util.counters(true).closed == roots + 1)
assert(exits(20000) <= 2)

-- The interpreter goes on right on a stack that has moved, and while garbage is collected.
jit.opt.start("hotexit=20", "maxside=0")
jit.flush()
local function allocate(n)
  local list, sum = {}, 0
  for i = 1, n do
    if i % 2 == 0 then list[i % 100] = { i } else sum = sum + (list[(i - 1) % 100] and 1 or 0) end
  end
  return sum
end
for _ = 1, 3 do
  local sum = coroutine.wrap(function()
    local function deeper(depth) if depth == 0 then return allocate(30000) end return (deeper(depth - 1)) end
    return deeper(200)
  end)()
  assert(sum == 14999, sum)
end
collectgarbage()

-- The exit of the stack check is that of the first guards too. It is taken by the interpreter where the stack has room, and each exit is counted
-- once where the compiler makes room first.
jit.flush()
jit.opt.start("hotloop=10", "hotexit=100000", "maxside=100")
local wide = load("local t = ... local " .. ("x,"):rep(89) .. "y return t.len")
local function calls(argument, n)
  for _ = 1, n do wide(argument) end
end
local function calls_in_new_coroutines(argument, n)
  for _ = 1, n do coroutine.wrap(wide)(argument) end
end
jit.off(calls)
jit.off(calls_in_new_coroutines)
calls({}, 100)
for _, call in ipairs({ calls, calls_in_new_coroutines, calls }) do
  local before = deopt()
  call("text", 1000)
  local taken = deopt() - before
  assert(taken == 1000, taken)
end

-- Where the first guard of a compiled loop over `pairs` fails, the interpreter executes `ITERN` once: entering the trace again would leave it at once.
jit.flush()
jit.opt.start("hotloop=10", "hotexit=100000", "maxside=100")
local numbers, names = {}, {}
for i = 1, 100 do numbers["k" .. i], names["k" .. i] = i, "v" .. i end
local function walk(t)
  local n, last = 0, nil
  for _, v in pairs(t) do
    n, last = n + 1, v
  end
  return n, last
end
for _ = 1, 10 do assert(walk(numbers) == 100) end
local before = deopt()
for _ = 1, 50 do assert(walk(names) == 100) end
local taken = deopt() - before
assert(taken >= 50 and taken <= 50 * 101, taken)
print("ok")
