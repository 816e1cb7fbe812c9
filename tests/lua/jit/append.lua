-- Elements appended to tables: the length is found from the length before, where nothing but the append has happened since.

local function check(name, t, from)
  local n, holes = 0, 0
  for i = 1, from do
    if t[i] == nil then holes = holes + 1 else n = n + 1 end
  end
  print(name, #t, n, holes)
end

-- One list, two elements in each iteration, two lists.
do
  local t = {}
  for i = 1, 1000 do t[#t + 1] = i end
  check("one", t, 1100)
  local u = {}
  for i = 1, 500 do
    u[#u + 1] = i
    u[#u + 1] = -i
  end
  check("two", u, 1100)
  local a, b = {}, {}
  for i = 1, 700 do
    a[#a + 1] = i
    if i % 3 == 0 then b[#b + 1] = i end
  end
  check("a", a, 1100)
  check("b", b, 1100)
end

-- table.insert, and a list with fields.
do
  local t, insert = {n = 0, [0] = 0}, table.insert
  for i = 1, 900 do insert(t, i) end
  check("insert", t, 1000)
end

-- The same table under two names.
do
  local t = {}
  local u = t
  local names = {t, u}
  for i = 1, 600 do
    local x, y = names[1], names[i % 2 + 1]
    x[#x + 1] = i
    y[#y + 1] = -i
  end
  check("names", t, 1300)
end

-- Elements taken away, at the end and in the middle.
do
  local t = {}
  for i = 1, 900 do
    t[#t + 1] = i
    if i % 5 == 0 then t[#t] = nil end
  end
  check("shrinks", t, 1000)
  local holes = {}
  local sum = 0
  for i = 1, 900 do
    holes[#holes + 1] = i
    if i > 40 and i % 7 == 0 then holes[i - 39] = nil end
    sum = (sum * 31 + #holes) % 1000003
  end
  check("holes", holes, 1000)
  print(sum)
end

-- Elements in front of the end: beyond it there are others already.
do
  local sum = 0
  for k = 1, 40 do
    local t = {}
    for i = 1, 64 do t[i] = i end
    for i = k, 64, 3 do t[i] = nil end
    for i = 1, 30 do
      t[#t + 1] = i
      sum = (sum * 31 + #t) % 1000003
    end
  end
  print(sum)
end

-- nil is appended, and values of which some are nil.
do
  local t = {}
  for i = 1, 300 do
    t[#t + 1] = i
    t[#t + 1] = nil
  end
  check("nil", t, 400)
  local u, values = {}, {1, false, nil, "x"}
  for i = 1, 400 do u[#u + 1] = values[i % 4 + 1] end
  check("values", u, 500)
end

-- Weak tables lose elements between two appends.
do
  local t = setmetatable({}, {__mode = "v"})
  for i = 1, 300 do
    t[#t + 1] = {}
    if i % 100 == 0 then collectgarbage() end
  end
  collectgarbage()
  print("weak", next(t))
end

-- A new list in each iteration, and one that leaves the loop.
do
  local kept
  local sum = 0
  for k = 1, 200 do
    local t = {}
    for i = 1, k % 20 do t[#t + 1] = i end
    sum = sum + #t
    kept = t
  end
  print(sum, #kept)
end
