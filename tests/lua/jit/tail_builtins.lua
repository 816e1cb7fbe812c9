-- Builtins with effects in tail position, in functions with loops of their own: traces return below their start.
local mt = {__index={x=1}}
local function new(i) local t = {i}; for k=1,i%3 do t[#t+1]=k end return setmetatable(t, mt) end
local n=0
for i=1,1000 do local t=new(i); n=n+t.x+#t end
print(n)
local function ins(t,i) if i%7==0 then return table.insert(t,i) end return table.insert(t,-i) end
local t={}
for i=1,1000 do ins(t,i) end
print(#t,t[7],t[8])
local function wr(i) local s=0 for k=1,3 do s=s+k*i end return rawset(t,i,s) end
for i=1,1000 do wr(i) end
print(t[1000],t[3])
