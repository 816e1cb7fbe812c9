-- Vararg functions, select and unpack in hot loops.

-- A fixed number of arguments, then changing numbers.
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...)) end
  return s
end
local total = 0
for i = 1, 500 do total = total + sum(i, i + 1, i + 2) end
print(total)
total = 0
for i = 1, 500 do
  local n = i % 5
  if n == 0 then total = total + sum()
  elseif n == 1 then total = total + sum(i)
  elseif n == 2 then total = total + sum(i, 2)
  elseif n == 3 then total = total + sum(i, 2, 3.5)
  else total = total + sum(i, 2, 3, 4, 5, 6, 7, 8) end
end
print(total)

-- Constructors and unpack.
local function pack(...) return { n = select("#", ...), ... } end
local c = 0
for i = 1, 600 do
  local t = pack(i, nil, i * 2)
  c = c + t.n + t[1] + (t[2] or 1) + t[3]
  local a, b, d = unpack(t, 1, t.n)
  c = c + a + d + (b == nil and 1 or 0)
  c = c + select("#", unpack(t, 1, i % 4)) + (select(2, "x", i, "y"))
end
print(c)
local list = {}
for i = 1, 50 do list[i] = i end
local m = 0
for i = 1, 300 do m = m + math.max(unpack(list, 1, i % 50 + 1)) + select("#", unpack(list)) end
print(m)

-- Passing on: through one and several functions, with additions in front, after tail calls.
local function last(...) return (select(select("#", ...), ...)) end
local function pass(...) return last(...) end
local function front(a, ...) return pass(a, ...) end
local function none(...) return ... end
local r = 0
for i = 1, 700 do
  r = r + pass(i, i + 1) + front(i, 2, i % 7) + (none(i) or 0) + select("#", none()) + select("#", none(nil, nil))
end
print(r)
local function tail(n, ...) if n == 0 then return select("#", ...) end return tail(n - 1, ...) end
print(tail(500, 1, nil, 3), tail(300))
local function shrink(a, ...) if a == nil then return 0 end return a + shrink(...) end
local sh = 0
for i = 1, 200 do sh = sh + shrink(unpack(list, 1, i % 20)) end
print(sh)

-- Types that change in the arguments.
local function describe(...)
  local s = ""
  for i = 1, select("#", ...) do
    local v = (select(i, ...))
    s = s .. type(v):sub(1, 1)
  end
  return s
end
local seen = {}
local values = { 1, "s", nil, true, {}, 2.5, print }
for i = 1, 900 do
  local d = describe(values[i % 7 + 1], values[i % 3 + 1], i)
  seen[d] = (seen[d] or 0) + 1
end
local keys = {}
for k, v in pairs(seen) do keys[#keys + 1] = k .. v end
table.sort(keys)
print(table.concat(keys, " "))

-- Loops inside of vararg functions; varargs as upvalues by way of tables.
local function loop(...)
  local a, b = ...
  local acc = 0
  for i = 1, 100 do
    acc = acc + a * i - (b or 0)
    a, b = (b or 1) % 10, a % 10
  end
  return acc, ...
end
local l = 0
for i = 1, 60 do l = l + (loop(i, i + 1)) + select("#", loop(i)) end
print(l)
local function each(f, ...)
  local args = { ... }
  for i = 1, #args do f(args[i], i) end
  return #args
end
local e = 0
for i = 1, 200 do e = e + each(function(v, k) e = e + v * k end, i, i + 1, i + 2) end
print(e)

-- select with negative indices and with variables, multiple results in the middle of lists.
local sel = 0
for i = 1, 400 do
  sel = sel + select(-1, i, i + 1, i + 2) + (select(i % 3 + 1, 10, 20, 30))
  local t = { none(1, 2, 3), none(4, 5, 6) }
  sel = sel + #t + t[1] + t[2]
end
print(sel)

-- Builtins with many and few arguments.
local bl = 0
for i = 1, 400 do
  bl = bl + math.max(i, 5, 200) + math.min(i, 7) + #string.format("%d %s", i, "x") + string.byte(string.char(65 + i % 20, 66, 67), i % 3 + 1)
  if i > 200 then bl = bl + math.max(unpack(list, 1, 3)) + bit.bor(1, 2, i % 2 == 0 and 4 or 8) end
end
print(bl)
print("ok")
