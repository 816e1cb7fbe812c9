-- Arithmetic and comparison of 64-bit integers, also in loops that are compiled.
print(1LL + 2, 2 - 5LL, 3LL * 4LL, 7LL / 2, -7LL / 2LL, 7LL % -4, 2LL ^ 62, -(5LL))
print(7ULL / 2, 7ULL % 4, 2ULL ^ 63, -1ULL, 5ULL + -1, 1.9 + 1LL, -1.9 + 1ULL)
print(5LL / 0, 5LL % 0, 5ULL / 0, 5ULL % 0, 0LL ^ -1, 2LL ^ -1, -1LL ^ -3)
print(1LL == 1, 1 == 1LL, 1LL == 1ULL, -1LL == -1ULL, 1LL == 2LL, 1LL ~= 1, 1LL == nil, 1LL == "1", 0LL == nil)
print(1LL < 2, 2 <= 1LL, -1LL < 0ULL, -1 < 1LL, 1LL >= 1, -1LL > 1)
print(pcall(function() return 1LL + "1" end))
print(pcall(function() return 1LL + {} end))
print(pcall(function() return 1LL < "x" end))
print(pcall(function() return {} - 1ULL end))

local s = 0LL
for i = 1, 1000 do s = s + i end
print(s)
local x = 88172645463325252ULL
for _ = 1, 300 do
  x = x * 6364136223846793005ULL + 1442695040888963407ULL
end
print(x)
local a, b, n = 0LL, 1LL, 0
while a < 1000000000000LL do
  a, b = b, a + b
  n = n + 1
end
print(a, n)
local kept = {}
for i = 1, 200 do
  local v = i * 3LL - 1
  if i % 50 == 0 then kept[#kept + 1] = v end
end
print(kept[1], kept[2], kept[3], kept[4])
local min, eq, ne = 100LL, 0, 0
for i = 1, 200 do
  local v = (i * 7919LL) % 1009
  if v < min then min = v end
  if v == 5LL then eq = eq + 1 end
  if v ~= 7 then ne = ne + 1 end
  if v == nil then eq = -1 end
end
print(min, eq, ne)
local d = 0LL
for i = 1, 150 do
  d = d + i / 2LL - (i % 3LL) ^ 2 + 0.5
  if i == 120 then d = d + 1 end
end
print(d, -d)
local u = 0ULL
for i = 1, 100 do u = u + 1 - (i % 7) * 2ULL end
print(u)
