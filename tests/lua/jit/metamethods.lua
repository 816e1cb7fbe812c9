-- Metamethods that are functions, in hot loops: operators, comparisons, indexing, calls, errors.
local V = {}
V.__index=function(t,k) return rawget(V,k) or k end
V.__add=function(a,b) local n=(type(a)=="table" and a.x or a)+(type(b)=="table" and b.x or b) return setmetatable({x=n},V) end
V.__sub=function(a,b) return setmetatable({x=a.x-b.x},V) end
V.__unm=function(a) return setmetatable({x=-a.x},V) end
V.__lt=function(a,b) return a.x<b.x end
V.__le=function(a,b) return a.x<=b.x end
V.__eq=function(a,b) return a.x==b.x end
V.__concat=function(a,b) return (type(a)=="table" and a.x or a)..":"..(type(b)=="table" and b.x or b) end
V.__call=function(self,a,b,...) return self.x+a+(b or 0)+select('#',...) end
local log={}
V.__newindex=function(t,k,v) log[#log+1]=k rawset(t,k,v) end
local s=setmetatable({x=0},V)
local one=setmetatable({x=1},V)
local c,d,e=0,0,0
local str
for i=1,400 do
  s=s+one; s=s+2; s=1+s; s=s-one; s=-(-s)
  if s<one then c=c+1 end
  if s<=one then c=c+1 end
  if one<s then d=d+1 end
  if s>=one then d=d+1 end
  if s==one then e=e+1 end
  if s~=one then e=e+2 end
  str = s..i
  str = i..s
  c=c+s(i)+s(i,1)+s(1,2,3,4)
  s["k"..(i%50)]=i
  e = e + #(s.foo..s.bar)
end
print(s.x,c,d,e,str,#log)
local P=setmetatable({},{__index=function(t,k) return k*2 end})
local z=0
for i=1,300 do z=z+P[i] end
print(z)
local Q=setmetatable({},{__newindex=P})
for i=1,300 do Q[i]=i end
print(rawlen and 0 or 0, #P, rawget(Q,1))
-- error in metamethods
local E=setmetatable({},{__add=function(a,b) if b>150 then error("big") end return b end})
local n=0
for i=1,200 do local ok,err=pcall(function() return E+i end) if ok then n=n+err else n=n-1 end end
print(n)
local ok, err = pcall(function() local q = 0 for i = 1, 300 do q = q + (E + i) end end)
print(ok, (err:gsub("^.*:%d+: ", "")))
-- Two objects that are sometimes one, and equal by their metamethod when they are not.
local same = { __eq = function() return true end }
local two = { [0] = setmetatable({}, same), setmetatable({}, same) }
local equal = 0
for i = 0, 200 do
  if two[0] == two[i % 2] then equal = equal + 1 end
end
print(equal)
-- A loop over next that is despecialised while it runs.
local t, r = { foo = 9, bar = 10, 4, 5, 6 }, {}
local function nothing() end
local function walk(step)
  for k, v in step, t, nil do
    r[#r + 1] = k
    if v == 5 then walk(nothing) end
  end
end
walk(next)
print(#r)
