-- Tail calls out of functions with variable arguments, in traces that start inside such a function.
local function largest(a, b, ...)
  if not b then return a end
  return largest(a > b and a or b, ...)
end
local s = 0
for i = 1, 3000 do s = s + largest(i % 7, 3, i % 11, 5, i % 13) end
print(s)

-- More and more arguments.
local function apply(f, n, ...)
  if n == 0 then return f(...) end
  return apply(f, n - 1, n, ...)
end
local function sum(a, b, c) return (a or 0) + (b or 0) + (c or 0) end
s = 0
for i = 1, 3000 do s = s + apply(sum, i % 5) end
print(s)

-- The number of arguments is another one each time.
local function count(n, ...)
  if n <= 0 then return select("#", ...) end
  if n % 3 == 0 then return count(n - 1, n, ...) end
  if n % 3 == 1 then return count(n - 1, ...) end
  return count(n - 2, (...))
end
s = 0
for i = 1, 2000 do s = s + count(i % 23, i, i) end
print(s)

-- The caller's values are as they were, and the results arrive where they belong.
local function last(...)
  local n = select("#", ...)
  if n == 0 then return nil end
  if n == 1 then return (...) end
  return last(select(2, ...))
end
local out = {}
for i = 1, 1000 do
  local a, b, c = i, last(1, i % 3 == 0 and nil or 2, i % 5), i
  out[i % 7] = a + b + c
end
for i = 0, 6 do io.write(out[i], " ") end
print()

-- An error after some of them.
local function fails(n, ...)
  if n == 0 then error("no more " .. select("#", ...), 0) end
  if n % 2 == 0 then return fails(n - 1, ...) end
  return fails(n - 1, n, ...)
end
local messages = {}
for i = 1, 1000 do
  local ok, message = pcall(fails, i % 9)
  messages[message] = (messages[message] or 0) + 1
end
for i = 0, 4 do io.write(i, ":", messages["no more " .. i], " ") end
print()

-- To functions without variable arguments, and back.
local odd
local function even(n, ...) if n == 0 then return "even", ... end return odd(n - 1, select("#", ...)) end
function odd(n, x) if n == 0 then return "odd", x end return even(n - 1, x, n) end
local found = {}
for i = 1, 2000 do
  local what, x, y = even(i % 12, i % 2 == 0 and 1 or nil)
  local key = what .. tostring(x) .. tostring(y)
  found[key] = (found[key] or 0) + 1
end
local keys = {}
for k, v in pairs(found) do keys[#keys + 1] = k .. "=" .. v end
table.sort(keys)
print(table.concat(keys, " "))

-- In coroutines.
local function walk(n, ...)
  if n % 4 == 0 then coroutine.yield(n, ...) end
  if n == 0 then return "end" end
  if n % 3 == 0 then return walk(n - 1, n) end
  return walk(n - 1, ...)
end
s = 0
for i = 1, 300 do
  local co = coroutine.wrap(walk)
  local n, x = co(i % 20, i)
  while n ~= "end" do s = s + n + (x or 0) n, x = co() end
end
print(s)
