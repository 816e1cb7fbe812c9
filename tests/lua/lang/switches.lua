-- Values that pass between coroutines, where the call takes fewer, as many, more, or all of them; and rounding, whose usual case is a
-- handler of its own as well.
local yield = coroutine.yield

local function show(...)
  local n, t = select("#", ...), { ... }
  for i = 1, n do t[i] = tostring(t[i]) end
  print(n .. ": " .. table.concat(t, " "))
end

-- Yields 0 to 4 values in turns, for ever.
local function giver()
  while true do
    yield()
    yield(1)
    yield(1, 2)
    yield(1, 2, 3)
    yield(1, 2, 3, 4)
  end
end

for round = 1, 3 do
  local before, after = "before", "after"
  local wrapped, resumed = coroutine.wrap(giver), coroutine.create(giver)
  local resume = coroutine.resume
  for _ = 0, 4 do
    wrapped()
    resume(resumed)
  end
  for _ = 0, 4 do
    local a = wrapped()
    local b = resume(resumed)
    show(a, b)
  end
  for _ = 0, 4 do
    local a, b, c = wrapped()
    local d, e, f = resume(resumed)
    show(a, b, c, d, e, f)
  end
  for _ = 0, 4 do
    show(wrapped())
    show(resume(resumed))
  end
  print(before, after)
end

-- The other way: what `yield` returns.
local taker = coroutine.wrap(function(...)
  local before = "before"
  show(...)
  yield()
  local a = yield()
  local b, c = yield()
  local d, e, f = yield()
  show(before, a, b, c, d, e, f)
  while true do show(yield()) end
end)
taker(1, 2)
taker(3, 4)
taker(5, 6)
taker(7, 8)
taker(9, 10)
taker()
taker(nil)
taker(1, nil, 3, nil)

-- In an iterator the call is the loop's.
local function numbers(n)
  return coroutine.wrap(function()
    for i = 1, n do yield(i, i * 2, "not taken") end
  end)
end
for i in numbers(3) do io.write(i, " ") end
for i, j in numbers(3) do io.write(i, "-", j, " ") end
for i, j, k, l in numbers(2) do io.write(i, "-", j, "-", k, "-", tostring(l), " ") end
print()

-- Errors leave the coroutine as they should.
print(pcall(coroutine.wrap(function() yield(); error "late" end)))
local co = coroutine.create(function() yield(); error { } end)
print(coroutine.resume(co), coroutine.status(co), coroutine.resume(co) == false, coroutine.resume(co))
print(coroutine.resume(coroutine.running() or coroutine.create(print), 1))
print(pcall(coroutine.resume))
local w = coroutine.wrap(function() yield() end)
w() w()
print(pcall(w))

for _, x in ipairs { 0, -0.0, 0.25, -0.25, 0.5, 1.5, -1.5, 2147483646.5, 2147483647, 2147483647.5, -2147483647.5, -2147483648, -2147483648.5,
  2 ^ 52 + 0.5, -2 ^ 60, 1 / 0, -1 / 0, 5e-324 } do
  local floor, ceil = math.floor(x), math.ceil(x)
  print(x, floor, ceil, 1 / floor, 1 / ceil)
end
print(math.floor(0 / 0) ~= math.floor(0 / 0), math.floor "7.5", math.ceil " -7.5 ", pcall(math.ceil, {}))
