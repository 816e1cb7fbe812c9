-- Hooks: calls, returns, lines, counts; errors in hooks; what a hook sees.
local ev = {}
local function g(a, b) return a + 1 end
local function f(x)
  local y = g(x)
  for i = 1, 2 do
    y = y + i
  end
  return y
end
debug.sethook(function(e, l) ev[#ev+1] = e .. ":" .. tostring(l) end, "crl")
f(1) f(2)
local s = string.rep("x", 3)
debug.sethook()
print(table.concat(ev, "\n")) ev = {}
local n = 0
debug.sethook(function(e, l) n = n + 1 end, "", 100)
for i = 1, 10000 do local x = i * 2 end
debug.sethook()
print(n > 0, debug.gethook())
print(pcall(function() debug.sethook(function(e, l) debug.sethook() error("hook err") end, "l")
 local x = 1
 return x end))
debug.sethook(function(e, l) local i = debug.getinfo(2, "nSl") ev[#ev+1] = e .. tostring(i.name) .. i.what .. i.currentline end, "cr")
f(1)
local co = coroutine.wrap(function() f(1) coroutine.yield() f(2) end)
co() co()
debug.sethook()
print(table.concat(ev, "\n"))
