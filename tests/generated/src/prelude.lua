-- What generated programs share. The chunk is called with the function that shows values, and returns what a program is called
-- with; the list of names is appended where the chunk is loaded.
local P = ...
local sum, asked = 0, 0
local floor, type, tostring, select = math.floor, type, tostring, select
-- A small integer of any value.
local function I(v)
  if type(v) == "number" then
    if v ~= v or v > 1e9 or v < -1e9 then return 3 end
    return floor(v) % 1000
  end
  if type(v) == "string" then return #v end
  return v == nil and 5 or v == true and 1 or 7
end
-- A number of any value, not so large that texts of it lose digits.
local function N(v)
  if type(v) ~= "number" then return 1 end
  if v ~= v or v > 1e15 or v < -1e15 then return 3 end
  return v
end
-- A string of any value, not so long that it grows without end.
local function S(v)
  if type(v) ~= "string" then return type(v) end
  if #v > 60 then return v:sub(1, 20) end
  return v
end
-- The text of a number. Where digits are left out, so many that no tie is rounded: old LuaJITs round those up.
local function T(v)
  v = N(v)
  local s = v .. ""
  return tonumber(s) == v and s or ("%.12g"):format(v)
end
-- Counts a value.
local function C(v)
  sum = (sum * 31 + I(v)) % 1000003
end
-- Counts a pair, whatever the order.
local function A(k, v)
  sum = (sum + I(k) * 7 + I(v)) % 1000003
end
-- True every fifth time: for errors, or little else would run.
local function seldom()
  asked = asked + 1
  return asked % 5 == 0
end
local function text(v)
  local t = type(v)
  if t == "number" then return T(v) end
  if t == "string" or t == "boolean" or t == "nil" then return tostring(v) end
  return "<" .. t .. ">"
end
-- The keys of a table in an order of their own.
local function K(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = text(k) end
  table.sort(keys)
  return keys
end
-- The elements of an array as one string.
local function J(t)
  local parts = {}
  for i = 1, #t do parts[i] = type(t[i]) == "number" and t[i] % 1 ~= 0 and T(t[i]) or t[i] end
  return table.concat(parts, ",")
end
-- For `rawget` as an iterator: keys of many types, one after the other.
local chain = { s = 1, [1] = 2.5, [2.5] = "t", t = true, [true] = 7, [7] = "u" }
-- A table that is called as an iterator, by a builtin.
local function each(t, last)
  local call = coroutine.wrap(function()
    for i = 1, #t do coroutine.yield(t[i], i) end
    if last ~= nil then coroutine.yield(last) end
    while true do coroutine.yield(nil) end
  end)
  return setmetatable({}, { __call = call })
end
-- Shows what was counted, when the program has ended.
local function finish()
  P("sum", sum, asked)
end
