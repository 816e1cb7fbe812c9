local a, b, c = ...
local t = {1, 2, "x", n = 3, [2.5] = 4, a and b, ...}
local s = 0
for i = 1, 20, 2 do
  s = s + i * 2 - i / 3 % 4 + 2 ^ i
  if s > 100 and not a then break end
end
for k, v in pairs(t) do s = s + (tonumber(v) or 1) end
for i, v in ipairs(t) do t[i] = -s end
for w in ("a b c"):gmatch("%a") do t[w] = #w .. w .. s end
for k, v in next, {x = 1, y = 2} do t[k] = v end
while s > 10 do
  s = s - 10
  if s == 5 then goto out end
end
::out::
local n = 0
for i = 1, 60 do
  for j = 1, 3 do n = n + i * j end
  if n % 7 == 0 then n = n - 1 elseif n ~= "x" then n = n + 0.5 end
end
return s, t.n, (...), select("#", ...), n, c == nil
