local function f(x) return x + 1, x end
local s = 0
for i = 1, 300 do local ok, a, b = pcall(f, i); if ok then s = s + a - b end end
print(s)
local function g(x) if x % 50 == 0 then error("boom " .. x) end return x end
local errs = {}
for i = 1, 300 do local ok, v = pcall(g, i); if ok then s = s + v else errs[#errs + 1] = v end end
print(s, #errs, errs[1], errs[6])
for i = 1, 300 do local ok, v = xpcall(g, function(e) return "H:" .. e end, i); if ok then s = s + v else errs[#errs + 1] = v end end
print(s, #errs, errs[7], errs[12])
local function h(...) return pcall(...) end
for i = 1, 300 do local ok, v = h(g, i); if ok then s = s + v else errs[#errs + 1] = v end end
print(s, #errs, errs[13], errs[18])
for i = 1, 300 do local ok, v = pcall(math.floor, i + 0.5); s = s + v end
print(s)
for i = 1, 300 do local ok, v = pcall(error, i); s = s + v end
print(s)
for i = 1, 300 do local ok, v = pcall(pcall, f, i); s = s + (v and 1 or 0) end
print(s)
-- nested, with index errors
local function deep(t, n) if n == 0 then return t.x.y end local ok, e = pcall(deep, t, n - 1) if not ok then error(e, 0) end return e end
local good, bad = { x = { y = 7 } }, {}
for i = 1, 300 do
  local ok, v = pcall(deep, i % 20 == 0 and bad or good, 3)
  if ok then s = s + v else errs[#errs + 1] = v end
end
print(s, #errs, errs[#errs])
local function va(...) local a, b = ... if not b then error({ code = a }) end return select('#', ...), a, b end
for i = 1, 300 do local ok, n, a, b = pcall(va, i, i % 7 ~= 0 and i or nil); if ok then s = s + n + a + b else s = s + n.code end end
print(s)
local co = coroutine.wrap(function() for i = 1, 300 do local ok, v = pcall(coroutine.yield, i); s = s + v end return -1 end)
for i = 1, 301 do local v = co(i); s = s + v end
print(s)
local mt = { __add = function(a, b) local ok, v = pcall(f, b) return v end, __index = function(t, k) return pcall(g, k) end,
 __lt = function(a, b) return (select(2, pcall(f, 1))) > 1 end, __concat = function(a, b) return "c" end, __eq = function() return (pcall(g, 50)) end }
local o, p = setmetatable({}, mt), setmetatable({}, mt)
for i = 1, 300 do s = s + (o + i) + (o[i] and 1 or 0) + ((o < p) and 1 or 0) + #("x" .. "y" .. o .. "z" .. i) + ((o == p) and 1 or 2) end
print(s)
