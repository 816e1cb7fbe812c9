-- Functions with a loop each, from a few files: more than two traces for each on average.
local kept, total = {}, 0
for i = 1, tonumber(arg[1]) do
  local text = [[
local x = 0
for j = 1, 60 do
  if j %% %d == 0 then x = x + j else x = x - 1 end
end
return x]]
  kept[i] = assert(loadstring(text:format(i % 7 + 2), ("=part%d"):format(i % 20)))
  total = total + kept[i]()
end
print(total)
