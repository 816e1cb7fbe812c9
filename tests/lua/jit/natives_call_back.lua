-- Builtins called by traces that call Lua, which flushes traces, collects, throws, sets hooks, yields.
local acc = {}
local function run(name, f) for i=1,400 do acc[#acc+1] = f(i) end end
local t = {5,3,1,4}
run("sort", function(i) local u = {i%7, 3, i%5, 9} table.sort(u, function(a,b) if i == 300 then jit.flush() end return a<b end) return u[1]+u[2] end)
run("gsub", function(i) local s = ("abc"):gsub(".", function(c) if i % 50 == 0 then collectgarbage() end if i==210 then jit.flush() for k=1,200 do acc.x = k end end return c..i end) return s end)
local mt = setmetatable({}, {__tostring=function() if #acc % 60 == 0 then collectgarbage() jit.flush() end return "obj" end})
run("fmt", function(i) return string.format("%s:%d", mt, i) end)
run("ts", function(i) return tostring(mt) end)
for i=1,400 do
  local ok, e = pcall(string.gsub, "x", ".", function() if i % 3 == 0 then error("e"..i) end end)
  acc[#acc+1] = tostring(e)
end
for i=1,300 do
  local s = ("abc"):gsub(".", function(c) if i == 250 then debug.sethook(function() end, "l") end if i == 280 then debug.sethook() end  return c end)
  acc[#acc+1]=s
end
local co = coroutine.wrap(function() for i=1,300 do local s = ("abc"):gsub("b", function(c) local ok = pcall(coroutine.yield, i); return tostring(ok) end) acc[#acc+1]=s end end)
for i=1,3 do acc[#acc+1] = tostring(pcall(co)) end
local h = 0
for i, v in ipairs(acc) do v = tostring(v) for j=1,#v do h = (h*31 + v:byte(j)) % 1000000007 end end
print(#acc, h)
