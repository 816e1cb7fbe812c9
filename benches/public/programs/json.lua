-- A JSON library in plain Lua reads a document of orders, which it has written before.
local dir, n = arg[1], tonumber(arg[2])
local json = dofile(dir .. "/lualibs/json.lua")
local orders = {}
for i = 1, 400 do
  local items = {}
  for k = 1, 4 do items[k] = { sku = "sku-" .. i * k % 97, count = k, price = i * k / 8 } end
  orders[i] = { id = i, name = "customer " .. i % 50, paid = i % 3 == 0, note = "line\n\"" .. i .. "\"", items = items }
end
local text = json.encode(orders)
local sum = 0
for _ = 1, n do
  local read = json.decode(text)
  for i, order in ipairs(read) do sum = sum + order.id * #order.items + order.items[4].price + #order.note end
  assert(#read == 400)
end
print(#text, sum)
