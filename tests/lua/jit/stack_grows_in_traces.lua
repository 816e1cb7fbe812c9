-- Frames that do not fit the stack, in new coroutines: where a function is called while a recording or a trace comes to the call.
local function wide(n, vararg, result)
  local names = {}
  for i = 1, n do names[i] = "x" .. i end
  local parameters = vararg and "..." or "a, b, c"
  local values = vararg and "..." or "a, b, c"
  return assert(load(("return function(%s) local %s = %s return %s end"):format(parameters, table.concat(names, ","), values, result)))()
end

local callees = {
  wide(90, true, "x1 + x3"), wide(90, false, "x1 + x3"), wide(150, true, "select('#', ...)"), wide(60, false, "(x1 + x2) * x3"),
  wide(3, true, "x1"),
}
for n, callee in ipairs(callees) do
  local function body(n)
    local s = 0
    for i = 1, n do s = s + i % 3 end
    local r = callee(1, 2, 3)
    return s + r
  end
  local sum = 0
  for k = 1, 500 do sum = sum + coroutine.wrap(body)(k % 100) end
  print(n, sum)
end

-- The same after a tail call, a metamethod, an iterator and a protected call.
local f = wide(120, true, "x1")
local object = setmetatable({}, { __index = f, __call = f, __add = f })
local ways = {
  function(a) return f(a) end,
  function(a) local v = object[a] return v == object end,
  function(a) local v = object(a) return v == object end,
  function(a) local v = object + a return v == object end,
  function(a) local n = 0 for v in f, a do n = n + 1 if n > 2 then break end end return n end,
  function(a) local ok, v = pcall(f, a) return ok and v end,
  function(a) return f(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a) end,
}
for n, way in ipairs(ways) do
  local count = 0
  for k = 1, 300 do
    local v = coroutine.wrap(function() return way(k) end)()
    if v == k or v == true or v == 3 then count = count + 1 end
  end
  print(n, count)
end

-- Vararg functions nested deep, as many slots as a trace may have and more.
for depth = 40, 70, 3 do
  local g = function() return 42 end
  for i = 2, depth do
    g = assert(load("local g = ... return function(...) local r = g() return r end"))(g)
  end
  local n = 0
  for _ = 1, 100 do n = n + coroutine.wrap(g)() end
  io.write(n, " ")
end
print()

-- A hook for calls is called once for each, also where the frame does not fit.
local calls = 0
local function hooked() local n = f(1) return n end
local co = coroutine.create(hooked)
debug.sethook(function() calls = calls + 1 end, "c")
coroutine.resume(co)
debug.sethook()
print(calls)
