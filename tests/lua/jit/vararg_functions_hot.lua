local function vf(a, ...) if select('#', ...) == 0 then return a end return a + vf(...) end
local acc = 0
for i = 1, 300 do acc = acc + vf(i, 2, 3) end
print(acc)
local function args(...) local t = {} for i = 1, 9 do t[i] = vf(...) end return t end
for i = 1, 50 do acc = acc + args(1, 2, 3, 4, 5)[9] end
print(acc)
local t = {}
for i = 1, 300 do t[i] = i % 17 * 1.5 end
table.sort(t, function(...) local a, b = ... return a < b end)
print(t[1], t[150], t[300])
print((string.gsub(("abc"):rep(100), "%w", function(...) return (...):upper() end)))
local function pack(...) return { n = select('#', ...), ... } end
local r = {}
string.gsub(("k=v;"):rep(200), "(%w)=(%w)", function(...) r[#r + 1] = pack(...).n + #pack(...) end)
acc = 0 for i = 1, #r do acc = acc + r[i] end print(acc, #r)
local function down(n, ...) if n == 0 then return ... end return down(n - 1, n, ...) end
for i = 1, 100 do acc = acc + select('#', down(i % 10)) + (down(5)) end
print(acc)
local function up(n, ...) if n == 0 then return select('#', ...) end return 1 + up(n - 1, ...) end
for i = 1, 100 do acc = acc + up(i, 1, 2) end
print(acc)
print(string.dump(vf) ~= nil)
acc = 0
local function miss(a, b, ...) return (a or 0) + (b or 10) + select('#', ...) end
for i = 1, 300 do
  acc = acc + (string.gsub("xy", "x", function() return miss() + miss(i) + miss(i, 2, 3, 4) end)):len()
end
print(acc)
