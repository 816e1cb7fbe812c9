-- Builtins called by traces as they are.
local t = {}
local n = 0
for i=1,2000 do
  local s = string.format("%d:%s", i, "x")
  local a, b = s:find(":", 1, true)
  n = n + a + b
  t[#t+1] = s:gsub("x", "y")
  local m = s:match("(%d+)")
  n = n + tonumber(m)
  if i % 3 == 0 then t[#t] = nil end
end
print(n, #t, t[5])
local function f(s) return s:rep(2) end
local c = 0
for i=1,1000 do c = c + #f("ab"..i) end
print(c)
local function g(...) return select('#', ...) end
c=0
for i=1,1000 do c = c + g(string.byte("hello", 1, i%5)) end
print(c)
print(pcall(function() for i=1,300 do string.rep({}, i < 200 and 1 or {}) end end))
print(pcall(function() for i=1,300 do local s = ("x"):rep(i < 200 and 1 or {}) end end))
for w in ("a b c d"):rep(200):gmatch("%a") do c = c + 1 end
print(c)
