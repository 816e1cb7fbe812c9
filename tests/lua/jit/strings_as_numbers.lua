-- Arithmetic on strings that denote numbers, in sums that stay integers for as long as all of them are.
local function sum(n, step)
  local s = 0
  for i = 1, n do s = s + i % step + step end
  return s
end
print(sum(300, "40"), sum(300, "7"), math.type and 0 or sum(300, " 0x10 "))
print(sum(300, "2.5"), sum(300, "1e1"), sum(5, "2147483647"))
local list = { "1", "2", "3.5", "-0", "4" }
local t, u = 0, 0
for i = 1, 400 do
  local v = list[i % 3 + 1]
  t = t + v
  u = u - list[i % 5 + 1] * "2"
end
print(t, u, 1 / ("-0" * 1), -"3" + 0)
local ok, message = pcall(function()
  local s = 0
  for i = 1, 200 do s = s + (i < 150 and "5" or "five") end
  return s
end)
print(ok, (message:gsub("^.-:%d+: ", "")))
