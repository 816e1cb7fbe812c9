-- Loops of few iterations in each other, deeper than the product of their iterations fits an int: they wait for what is around them, but not
-- for ever.
local depth = 36
local text = { "local n = 0 " }
for i = 1, depth do text[#text + 1] = ("for a%d = 1, %d do "):format(i, i % 9 == 0 and 2 or 1) end
text[#text + 1] = "n = n + a1 + a36 "
for _ = 1, depth do text[#text + 1] = "end " end
text[#text + 1] = "return n"
local f = assert(loadstring(table.concat(text)))
local sum = 0
for _ = 1, 2000 do sum = sum + f() end
print(sum)

-- Neighbours of cells: two loops of three iterations around a loop that is long.
local g, W = {}, 40
for y = 0, W + 1 do
  g[y] = {}
  for x = 0, W + 1 do g[y][x] = (x * 7 + y * 3) % 5 == 0 and 1 or 0 end
end
local count, total = {}, 0
for round = 1, 12 do
  for y = 1, W do
    for x = 1, W do
      local n = 0
      for dy = -1, 1 do
        for dx = -1, 1 do
          if dx ~= 0 or dy ~= 0 then n = n + g[y + dy][x + dx] end
        end
      end
      count[n] = (count[n] or 0) + 1
      total = total + n
    end
  end
end
print(total, count[0], count[1], count[2], count[3])

-- Lists and records of few elements, whose number changes while the loop around them is hot.
local handlers, log = {}, 0
for i = 1, 3 do handlers[i] = function(x) log = log + i * x end end
for i = 1, 3000 do
  for _, h in ipairs(handlers) do h(i % 5) end
  for k, v in pairs { a = 1, b = i % 3 } do log = log + v + #k end
  if i == 1500 then for k = 4, 9 do handlers[k] = handlers[1] end end
  if i == 2500 then handlers = {} end
end
print(log)
