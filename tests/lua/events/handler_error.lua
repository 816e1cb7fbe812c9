-- Errors in handlers are reported, and that is all.
local function loop(n)
  local sum = 0
  for i = 1, n do sum = sum + i end
  return sum
end
local times = 0
jit.attach(function(what) times = times + 1 error(what .. " failed") end, "trace")
assert(loop(100) == 5050)
assert(times == 2)
jit.flush()
assert(times == 3)
jit.attach(function() error("no position", 0) end, "bc")
assert(loadstring "return 7"() == 7)
jit.attach(function() local t; t.x = 1 end, "bc")
assert(loadstring "return 8"() == 8)
local ok, e = pcall(loadstring, "return")
assert(ok and type(e) == "function", "the error went on")
assert(select(2, pcall(error, "mine", 0)) == "mine")
print "ok"
