-- Calls that traces are stitched around.
local function gen(n) return coroutine.wrap(function() for i=1,n do coroutine.yield(i, i*2) end end) end
local s = 0
for r=1,20 do for a,b in gen(200) do s = s + a*b end end
print(s)
local co = coroutine.create(function(a) while true do a = coroutine.yield(a+1) end end)
local x = 0
for i=1,2000 do local ok, v = coroutine.resume(co, x); x = v end
print(x)
local cnt=0
for i=1,500 do
  local ok, e = pcall(function() cnt = cnt + 1; if i % 7 == 0 then error("x"..i) end return i end)
  if not ok and i > 490 then print(e) end
end
print(cnt)
local t = {}
for i=1,300 do t[i] = (i*7919)%1000 end
for i=1,100 do table.sort(t, function(a,b) return a > b end) end
print(t[1], t[300])
for i=1,300 do
  local f = assert(load("return "..i))
  s = s + f()
  if i == 299 then print((debug.traceback("tb"):gsub("\n%s*%[C%].*", ""))) end
end
print(s)
local function foo(...) local n = select('#', ...) return n end
for i=1,300 do s = s + foo(coroutine.resume(co, i)) end
print(s)
print(pcall(function() for i=1,300 do local a = i<250 and pcall or nil; a(function() end) end end))
collectgarbage()
for i=1,200 do collectgarbage("step") s = s + 1 end
print(s)
