-- Elements of tables as values of a list, tables of a given size, metatables of what is no table.
local function f(a, b, c) return (a or 0) + (b or 0) + (c or 0) end
local t={1,2,3}
local s=0
for i=1,3000 do s=s+f(unpack(t)) s=s+f(unpack(t,2)) s=s+f(unpack(t,i%3+1,3)) s = s+ select('#',unpack({},1,i%5)) t[i%3+1]=i%7 end
print(s)
for i=1,300 do local n = i%20 local x={} for k=1,n do x[k]=k end s = s + select('#', unpack(x)) local y = {unpack(x)} s = s + #y end
print(s)
local tn=require"table.new"
for i=1,300 do local x=tn(4,i%3) x[1]=i x.k=i s=s+x[1]+x.k local y = tn(0,0) y[1]=1 s=s+#y end
print(s, pcall(tn,"x"), pcall(tn, 1))
for i=1,300 do assert(getmetatable(i)==nil and getmetatable("x").__index==string and getmetatable(nil)==nil) end
print(pcall(unpack), pcall(unpack, {}, 1, 1e8), pcall(unpack,{},"x"), select('#', unpack({}, 3, 1)), unpack({1,nil,3},1,3))
for i=1,200 do local ok, e = pcall(unpack, i > 190 and 5 or {i}) if i > 195 then print(ok, e) end end
