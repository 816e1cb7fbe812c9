-- insert, remove, concat, maxn, getn, foreach, foreachi, move, unpack.

local function show(t, ...)
  local out = {}
  for i = 1, table.maxn(t) do out[i] = tostring(t[i]) end
  print("{" .. table.concat(out, " ") .. "}", ...)
end

-- insert
local t = {}
table.insert(t, "a")
table.insert(t, "c")
table.insert(t, 2, "b")
table.insert(t, 1, "z")
table.insert(t, 5, "end")
show(t, #t)
t = { 1, 2, 3 }
table.insert(t, 4, "at n+1")
table.insert(t, nil)
show(t, #t)
t = {}
for i = 1, 10 do table.insert(t, 1, i) end
show(t)
for i = 1, 10 do table.insert(t, i * 2, -i) end
show(t, #t)
print(select("#", table.insert({}, 1)))
t = { 1, 2, 3 }
table.insert(t, 2.7, "x")
show(t)

-- remove
t = { "a", "b", "c", "d", "e" }
print(table.remove(t), table.remove(t, 1), table.remove(t, 2), #t)
show(t)
print(table.remove(t, 2), table.remove(t, 1), table.remove(t), table.remove(t), #t)
print(table.remove({}), table.remove({}, 1), table.remove({}, 0), select("#", table.remove({})))
t = { 1, 2, 3 }
print(table.remove(t, 3), table.remove(t, 3), #t, table.remove(t, "1"))
show(t)
local queue, out = {}, {}
for i = 1, 20 do
  queue[#queue + 1] = i
  if i % 3 == 0 then out[#out + 1] = table.remove(queue, 1) end
end
show(out)
show(queue)
local stack = {}
for i = 1, 100 do stack[#stack + 1] = i end
local sum = 0
while #stack > 0 do sum = sum + table.remove(stack) end
print(sum, next(stack))

-- concat
print(table.concat({}), table.concat({ 1 }), table.concat({ 1, "b", 2.5 }, "-"), table.concat({ 1, 2, 3 }, ", ", 2), table.concat({ 1, 2, 3 }, ", ", 2, 2))
print(table.concat({ 1, 2, 3 }, ",", 3, 2), table.concat({ "a", "b" }, "", 1, 2), table.concat({ [5] = "five", [6] = "six" }, "+", 5, 6))
print(table.concat({ 1, 2, 3 }, 0), table.concat({ "x", "y" }, "\0"):byte(2), #table.concat({ ("x"):rep(1000), ("y"):rep(1000) }, ("z"):rep(10)))
print(pcall(table.concat, { 1, {}, 3 }))
print(pcall(table.concat, { 1, nil, 3 }, ",", 1, 3))
local words = {}
for i = 1, 500 do words[i] = "w" .. i end
local joined = table.concat(words, " ")
print(#joined, joined:sub(1, 20), joined:sub(-9))

-- maxn, getn, #
print(table.maxn({}), table.maxn({ 1, 2, nil, 4 }), table.maxn({ [10] = 1, [2.5] = 2, x = 3 }), table.maxn({ [-5] = 1 }), table.maxn({ [1e10] = 1 }))
print(table.getn({ 1, 2, 3 }), table.getn({}), #{ n = 5 })

-- foreach, foreachi
print(table.foreachi({ "a", "b", "c" }, function(i, v) io.write(i, v, " ") end))
print(table.foreachi({ 5, 6, 7 }, function(i, v) if v == 6 then return "found at " .. i end end))
local total = 0
print(table.foreach({ 1, 2, x = 3, y = 4 }, function(_, v) total = total + v end), total)
print(table.foreach({ x = "only" }, function(k, v) return k .. "=" .. v end))

-- move
show(table.move({ 1, 2, 3 }, 1, 3, 2))
show(table.move({ 1, 2, 3, 4, 5 }, 2, 5, 1))
show(table.move({ 1, 2, 3 }, 1, 3, 1, { "a", "b", "c", "d" }))
show(table.move({ 1, 2, 3 }, 1, 0, 5))
show(table.move({ 1, 2, 3 }, 2, 3, 5))
show(table.move({ 10, 20, 30, 40 }, 1, 3, 3))
local source = { 1, 2, 3 }
local dest = table.move(source, 1, #source, 3, {})
print(dest[1], dest[3], dest[5], source[1], #source)
local log = {}
local proxy = setmetatable({}, { __newindex = function(tt, k, v) log[#log + 1] = k .. "=" .. v rawset(tt, k, v) end })
table.move({ "a", "b" }, 1, 2, 1, proxy)
print(table.concat(log, " "))

-- unpack
print(unpack({ 1, 2, 3 }, 2), unpack({}, 1, 2), (unpack({ 9, 8 })))
print(unpack({ n = 3, "a", nil, "c" }, 1, 3))
print(unpack(setmetatable({}, { __index = function(_, k) return k end }), 1, 3))
local big = {}
for i = 1, 7000 do big[i] = i end
print(select("#", unpack(big)), (select(7000, unpack(big))), math.max(unpack(big)))

-- The table functions read and write raw.
local raw = setmetatable({ 1, 2 }, { __index = function() error("no") end, __newindex = function() error("no") end, __len = function() return 50 end })
table.insert(raw, 3)
table.insert(raw, 1, 0)
show(raw, table.remove(raw), #raw)
print(table.concat(raw, ","))
print("ok")
-- Sizes that are too large, or negative.
local new = require "table.new"
for _, sizes in ipairs { { 0, -1 }, { -5, 0 }, { 2 ^ 28, 0 }, { 0, 2 ^ 27 }, { 3, 4 } } do
  local made, message = 0
  for i = 1, 100 do
    local ok, t = pcall(new, sizes[1], sizes[2])
    if ok then made = made + 1 else message = t end
  end
  print(sizes[1], sizes[2], made, message)
end
