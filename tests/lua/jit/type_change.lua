-- Variables of hot loops that change their type after the loop was compiled.

-- An accumulator: integer, then fraction, then string, then table by metamethod.
local function accumulate(values)
  local acc = 0
  for i = 1, #values do acc = acc + values[i] end
  return acc
end
local ints, floats, mixed, strings = {}, {}, {}, {}
for i = 1, 200 do
  ints[i], floats[i] = i, i + 0.25
  mixed[i] = i <= 150 and i or i + 0.5
  strings[i] = i % 10 == 0 and tostring(i) or i
end
print(accumulate(ints), accumulate(floats), accumulate(mixed), accumulate(strings), accumulate(ints))
local obj = setmetatable({ v = 0 }, {
  __add = function(a, b) return (type(a) == "table" and a.v or a) + (type(b) == "table" and b.v or b) + 1 end,
})
ints[180] = obj
print(accumulate(ints))
ints[180] = 180
print(accumulate(ints))

-- A slot that holds another type every few rounds.
local function describe(v)
  local t = type(v)
  if t == "number" then return v % 7 end
  if t == "string" then return #v end
  if t == "table" then return #v * 2 end
  if t == "boolean" then return v and 1 or 0 end
  if t == "function" then return v() end
  return 100
end
local kinds = { 1, "two", { 3 }, true, false, function() return 6 end, 1.5, "" }
local sum = 0
for i = 1, 2000 do
  local v = kinds[i % (#kinds + 1)]
  sum = sum + describe(v)
end
print(sum)

-- The loop variable of an outer loop feeds types into an inner loop.
local out = {}
for _, start in ipairs { 0, 0.5, "1", -0, 2 ^ 31, 1e300 } do
  local x = start
  for i = 1, 120 do x = x + i end
  out[#out + 1] = string.format("%.10g", x)
end
print(table.concat(out, " "))

-- nil turns into a value and back.
local found, last
local hits = 0
for i = 1, 1000 do
  if i % 100 == 0 then found = i elseif i % 100 == 50 then found = nil end
  if found then
    hits = hits + 1
    last = found
  end
end
print(hits, last, found)

-- A local that is reused for different things.
local log = 0
for i = 1, 600 do
  local t = i
  if i > 200 then t = "s" .. t end
  if i > 400 then t = { t } end
  if type(t) == "table" then t = t[1] end
  log = (log * 3 + #tostring(t)) % 10007
end
print(log)

-- A table field that changes type while its reader is hot.
local state = { value = 1 }
local function read(n)
  local total = 0
  for i = 1, n do
    local v = state.value
    if v == nil then total = total + 1000 elseif v == true then total = total + 10 else total = total + v end
  end
  return total
end
print(read(300))
state.value = 1.5
print(read(300))
state.value = "2"
print(read(300))
state.value = nil
print(read(100))
state.value = true
print(read(300))
state.value = 3
print(read(300))

-- The type changes in the middle of a while loop by an outside call.
local box = { n = 0 }
local function bump(b)
  b.n = b.n + 1
  if b.n == 500 then b.n = b.n + 0.5 end
  if b.n == 800.5 then b.n = tostring(b.n) end
  return b.n
end
while tonumber(bump(box)) < 1000 do end
print(box.n, type(box.n))
print("ok")
