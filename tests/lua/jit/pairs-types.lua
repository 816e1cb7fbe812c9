-- Keys and values of `pairs` are typed where they are read: of other types, in other places, after changes of the table, and not at all.
local function walk(t)
  local n = 0
  for k, v in pairs(t) do
    if type(k) ~= "number" then
      if type(v) == "table" then n = n + walk(v) elseif type(v) == "string" then n = n + #v else n = n + 1 end
    elseif v then
      n = n + 2
    end
  end
  return n
end
local function tree(d)
  local t = { 1, 2.5, "x", false, d > 0 and tree(d - 1) or nil }
  t.name, t.flag, t.num, t.sub = "name" .. d, d % 2 == 0, d / 2, d > 0 and tree(d - 1) or print
  t[print], t[2.5], t[true] = "f", {}, "yes"
  return t
end
local big = tree(7)
local s = 0
for i = 1, 20 do s = s + walk(big) end
print(s)

-- The variables are assigned, captured, and outlive changes of the table and collections.
local function assigned(t)
  local list = {}
  for k, v in pairs(t) do
    if type(v) == "number" then v = v + 1 k = tostring(k) end
    list[#list + 1] = k .. "=" .. tostring(v)
  end
  table.sort(list)
  return table.concat(list, " ")
end
local function captured(t)
  local fs = {}
  for k, v in pairs(t) do fs[#fs + 1] = function() return k, v end end
  local list = {}
  for i, f in ipairs(fs) do local k, v = f() list[i] = k .. ":" .. tostring(v) end
  table.sort(list)
  return table.concat(list, " ")
end
local function emptied(n)
  local t, s = {}, 0
  for i = 1, n do t["k" .. i] = i % 3 == 0 and { i } or i % 3 == 1 and i or "v" .. i end
  for k, v in pairs(t) do
    t[k] = nil
    if #k % 2 == 0 then collectgarbage("step") end
    local other = { "a new table", k }
    if type(v) == "table" then s = s + v[1] elseif type(v) == "string" then s = s + tonumber(v:sub(2)) else s = s + v end
    s = s + #other
  end
  return s, next(t)
end
local mixed = { a = 1, b = "two", c = 3.5, d = true, e = 5, f = "six", g = 2 ^ 40, h = false }
for i = 1, 30 do
  local x, y = assigned(mixed), captured(mixed)
  if i % 15 == 0 then print(x) print(y) end
end
for i = 1, 5 do print(emptied(300)) end

-- Errors name the variables.
for i = 1, 3 do
  print(pcall(function()
    local n = 0
    for i = 1, 100 do
      for k, v in pairs { 1, 2, i == 90 and {} or 3 } do n = n + v end
    end
  end))
end

-- Two loops over one table, and a loop that is left and continued by `next`.
local function both(t)
  local n = 0
  for k in pairs(t) do
    n = n + 1
    for _, v in pairs(t) do
      if v == k then n = n + 100 end
      if type(v) == "boolean" then break end
    end
  end
  local k, v = next(t)
  while k do
    if type(v) == "string" then n = n + #v end
    k, v = next(t, k)
  end
  return n
end
local list = {}
for i = 1, 60 do list[i] = i % 5 == 0 and "s" or i % 2 == 0 and i or i / 2 end
for i = 1, 10 do s = s + both(list) end
print(s)
local vararg = function(...) local n = 0 for k, v in pairs { ... } do n = n + select("#", k, v) + (v and 1 or 0) end return n end
for i = 1, 100 do s = s + vararg(1, "x", false, nil, i, {}) end
print(s)

-- A function that is too long for its dead slots to be known.
local long = assert(loadstring("local want, t = ... local x, n = 0, 0 " .. ("x = x + 1 "):rep(4100)
  .. "for k, v in pairs(t) do if want[k] ~= v then n = n + 1 end end return n, x"))
local want, got = {}, {}
for i = 1, 40 do
  want["k" .. i] = i % 4 == 0 and "s" .. i or i % 4 == 1 and i or i % 4 == 2 and i / 2 or i % 8 == 3
  got["k" .. i] = i % 10 ~= 0 and want["k" .. i] or nil
end
for i = 1, 60 do
  local n, x = long(want, got)
  s = s + n + x
end
print(s)
