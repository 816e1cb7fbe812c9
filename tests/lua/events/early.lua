-- Recording as early as possible: every loop and exit is hot at once.
local watch = require "watch"
watch.hotexit = 1

watch.start()
local list = { 1, 2.5, "3", 4, 5.5, "6" }
local function total(n)
  local sum = 0
  for i = 1, n do
    local v = list[i % #list + 1]
    if type(v) == "string" then
      sum = sum + #v
    elseif v % 1 == 0 then
      sum = sum + v
    else
      sum = sum - v
    end
  end
  return sum
end
for _ = 1, 10 do assert(total(60) == -10) end

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
for _ = 1, 5 do assert(fib(12) == 144) end

local t = setmetatable({}, { __index = function(_, k) return k * 2 end, __call = function(_, x) return x end })
local s = 0
for i = 1, 50 do s = s + t[i] + t(i) end
assert(s == 3825)

local words = {}
for w in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do words[#words + 1] = w end
for _ = 1, 20 do
  local n = 0
  for i, w in ipairs(words) do n = n + i * #w end
  for _, w in pairs(words) do n = n + #w end
  assert(n == 204, n)
end
jit.flush()
for _ = 1, 10 do assert(total(60) == -10) end
watch.finish()
assert(watch.stops > 5, "hardly anything was compiled")
local sides = 0
for _, start in ipairs(watch.all "start") do
  if start.parent then
    sides = sides + 1
    assert(start.reported >= 1)
  end
end
assert(sides > 5, "hardly any side trace was tried")
print "ok"
