-- A hook is compiled itself, for which the other traces make room: that of the function it was told of is gone when it returns.
jit.opt.start("hotloop=1", "hotexit=1", "maxtrace=3", "maxside=1")
local sum = 0
local function count(v) sum = (sum * 31 + v) % 1000003 end
for w = 1, 1 do pcall(function()
  for i = 1, 2 do print() end
end) end
local n = 0
local function work(k) local s = 0 for i = 1, k do s = s + i end return s end
for r = 1, 3 do
  print(work(20)) count(work(20))
  debug.sethook(function() n = n + 1 end, "cr")
  count(work(5))
  print(sum)
  debug.sethook()
  count(work(20))
  print(sum)
end
