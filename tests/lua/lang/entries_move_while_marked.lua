-- Entries of large tables move while the collector traverses them: none is lost.
local function filled(n, value)
  local t = {}
  for i = 1, n do t[i] = value(i) end
  return t
end
local queue = filled(6000, function(i) return { i } end)
local sum = 0
for i = 1, 20000 do
  local first = table.remove(queue, i % 3 + 1)
  sum = (sum + first[1]) % 1000003
  table.insert(queue, { first[1] + i })
  if i % 50 == 0 then table.insert(queue, 1, { i }) table.remove(queue, 3000) end
end
local all = 0
for _, v in ipairs(queue) do all = all + #v end
print(#queue, all, sum)
local names = filled(5000, function(i) return "name " .. (i * 7919) % 5000 end)
for i = 1, 60 do
  table.sort(names)
  for j = 1, 200 do names[(i * 31 + j * 17) % 5000 + 1] = "other " .. i .. " " .. j end
end
local bytes = 0
for _, name in ipairs(names) do bytes = bytes + #name end
print(#names, bytes)
