-- table.insert and remove with a position: at the end of the list, where they are compiled as without one, and elsewhere in the same loop.
local insert, remove = table.insert, table.remove

-- A position that is the end, and in some iterations is not.
local t, s = {}, 0
for i = 1, 300 do
  insert(t, #t + 1, i)
  insert(t, i % 7 == 0 and 1 or #t + 1, -i)
  if i % 3 == 0 then s = s + remove(t, i % 5 == 0 and 2 or #t) end
end
print(#t, s, t[1], t[2], t[#t])

-- The same without the length being asked for: a counter, as an integer, a number and a string.
local n, stack = 0, {}
for i = 1, 200 do
  n = n + 1
  insert(stack, i % 50 == 0 and n + 0.5 or n, i)
  if i % 4 == 0 then
    s = s + remove(stack, i % 40 == 0 and tostring(n) or n)
    n = n - 1
  end
end
print(#stack, n, s, stack[#stack])

-- Beyond the end, before the start, of an empty list, and at nil.
local r = {}
for i = 1, 120 do
  local few = i % 3 == 0 and {} or { i, i + 1 }
  r[#r + 1] = tostring((remove(few, #few))) .. tostring((remove(few, i % 4))) .. tostring(i % 9 == 0 and remove(few, nil) or #few)
end
print(table.concat(r, " "))
local holes = {}
for i = 1, 100 do
  local list = { 1, 2, 3 }
  insert(list, i % 4 + 1, "x")
  holes[i] = #list
end
print(#holes, holes[1], holes[2], holes[4])

-- Lists with their elements in the hash part, values that are tables, and a metatable, which is not asked.
local mt = setmetatable({}, { __newindex = function() error "asked" end, __index = function() return 5 end })
local made = 0
for i = 1, 150 do
  insert(mt, #mt + 1, { i })
  if i % 2 == 0 then made = made + remove(mt, #mt)[1] end
end
print(#mt, made)
local sparse = { [3] = 3, [2] = 2 }
sparse[1] = 1
for i = 4, 60 do insert(sparse, i, i * 2) if i % 10 == 0 then s = s + remove(sparse, #sparse) insert(sparse, #sparse + 1, 0) end end
print(#sparse, s, sparse[10], sparse[59])

-- Errors.
for i = 1, 60 do
  local ok, e = pcall(insert, t, i > 55 and {} or #t + 1, i)
  if not ok and i == 60 then print(e) end
  ok, e = pcall(remove, t, i > 55 and "x" or #t)
  if not ok and i == 60 then print(e) end
end
print(#t)
