-- Strings of more than a page that grow by appending: the scratch buffer still has the bytes of the string that was made last, which must
-- be used for that string only.
local function expect(n, f)
  local parts = {}
  for i = 1, n do parts[i] = f(i) end
  return table.concat(parts)
end

-- One string, by two and by several operands, and by a closure.
local s, t, u = "", "", ""
local function add(x) u = u .. x end
for i = 1, 3000 do
  s = s .. "ab"
  t = t .. "line " .. i .. "\n"
  add("<") add(tostring(i)) add(">")
end
print(s == ("ab"):rep(3000), t == expect(3000, function(i) return "line " .. i .. "\n" end), #u, u == expect(3000, function(i) return "<" .. i .. ">" end))

-- Two strings in turns, and what comes between them: other uses of the buffer, numbers first, collections.
local base = ("x"):rep(5000)
local a, b, n = base, base, 0
for i = 1, 600 do
  a = a .. i
  if i % 7 == 0 then n = n + #string.format("%s|%d", a, i) end
  b = b .. "y"
  if i % 5 == 0 then b = b .. "z" .. i end
  if i % 50 == 0 then collectgarbage() end
  if i % 11 == 0 then n = n + #(i .. a) + #(a .. a) + #(b .. a) + #table.concat({ a, b }, ",") + #a:rep(2) + #a:upper() end
end
print(#a, #b, n)
print(a == base .. expect(600, tostring), b == base .. expect(600, function(i) return i % 5 == 0 and "yz" .. i or "y" end))

-- The same string again, from the same beginning: it exists already.
local first = base .. "!"
for i = 1, 100 do
  local same = base .. "!"
  assert(same == first and rawequal(same, first))
  local longer = same .. "?"
  assert(#longer == 5002 and longer:sub(-2) == "!?")
  assert(same .. "?" == longer)
end

-- An error, and a metamethod, in between.
local M = setmetatable({}, { __concat = function(x, y) return type(x) == "string" and #x or #y end })
local errors = 0
for i = 1, 100 do
  local x = first .. i
  if not pcall(function() return x .. nil end) then errors = errors + 1 end
  n = n + (x .. M) + (M .. x)
  assert(x .. "." == base .. "!" .. i .. ".")
end
print(errors, n)

-- Long strings that differ in one byte anywhere are different keys.
local long, keys, count = ("k"):rep(8192), {}, 0
for i = 1, 8192, 37 do
  keys[long:sub(1, i - 1) .. "K" .. long:sub(i + 1)] = i
end
for k, i in pairs(keys) do
  count = count + 1
  assert(k:find("K", 1, true) == i)
end
for i = 1, 8192, 37 do assert(keys[long:sub(1, i - 1) .. "K" .. long:sub(i + 1)] == i) end
print(count)
