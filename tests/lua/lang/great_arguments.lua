-- Arguments beyond what the builtins take: as in LuaJIT.
print(string.gsub("aaa", "a", "b", 1e10))
print(string.gsub("aaa", "a", "b", 2^32 + 2))
print(string.gsub("aaa", "a", "b", -1), (string.gsub("aaa", "a", "b", "2")))
print(pcall(assert, false, "message", 5))
print(pcall(assert, nil, {}, 5))
print(pcall(assert, nil, nil, "last"))

local function elements(t, first, last)
  local shown = {}
  for i = first, last do shown[#shown + 1] = tostring(t[i]) end
  return table.concat(shown, " ")
end
local list = { 1, 2, 3, 4, 5, 6, 7, 8 }
table.move(list, 2, 5, 1)
print(elements(list, 0, 9))
table.move(list, 1, 5, 3)
print(elements(list, 0, 12))
table.move(list, 1, 8, 5)
print(elements(list, 0, 14))
table.move(list, -2, 3, -1)
print(elements(list, -3, 6))
table.move(list, 1, 3, 100)
print(elements(list, 98, 104))
print(elements(table.move(list, 0, 12, 0, {}), 0, 13))
print(elements(table.move({ n = 1, [3] = "x", [10] = "y" }, 1, 10, 1, {}), 0, 11))
print(next(table.move(list, 5, 4, 1, {})))
print((pcall(table.move, list, 2147483640, 2147483647, 1, {})), (pcall(table.move, list, 1, 10, 2147483640, {})))
local long = {}
for i = 1, 20000 do long[i] = { i } end
local copy, sum = table.move(long, 1, #long, 1, {}), 0
for k = 1, 30 do
  table.move({ { k } }, 1, 1, k, copy)
  collectgarbage("step", 10)
end
collectgarbage()
for i = 1, #copy do sum = sum + copy[i][1] end
print(#copy, sum)
