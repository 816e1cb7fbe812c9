-- A vararg function that ends in a call of a builtin which traces call: the builtin's frame replaces both of the function's.

local function fmt(...) return string.format(...) end
local function gsub(s, ...) return s:gsub(...) end
local function last(...) return select(-1, ...) end
local function from_end(k, ...) return select(-k, ...) end
local function rep(...) return string.rep(...) end

local n, text = 0, ""
for i = 1, 200 do
  local a = fmt("%d:%s", i, "x")
  n = n + #a
  if i % 50 == 0 then text = text .. a .. ";" end
end
print(n, text)

-- One result, all results, none; as an argument; as the last of a list.
local count, list = 0, nil
for i = 1, 200 do
  local s, k = gsub("hello world", "o", tostring(i % 10))
  count = count + k + #s
  list = { gsub("banana", "a", "o") }
  gsub("x", "x", "y")
  count = count + #list + select("#", gsub("banana", "n", "m"))
end
print(count, list[1], list[2])

-- select from the end, with numbers of arguments that change.
local sum = 0
for i = 1, 300 do
  sum = sum + last(1, 2, i)
  sum = sum + (i % 3 == 0 and last(i) or last(5, i))
  local x, y = from_end(2, 7, 8, i)
  sum = sum + x * y
end
print(sum)
print(pcall(last))
print(pcall(from_end, 3, 1, 2))
local wrong = 0
for i = 1, 200 do
  local ok, message = pcall(from_end, i % 100 == 0 and 5 or 2, 1, 2)
  if not ok then wrong, text = wrong + 1, message end
end
print(wrong, text)

-- As a metamethod, whose result is an operand, or is dropped.
local object = setmetatable({}, {
  __index = function(...) return rawget({ a = 1, b = 2 }, (select(2, ...))) end,
  __concat = function(...) return string.format("%s+%s", type((...)), type((select(2, ...)))) end,
  __newindex = function(t, ...) return rawset(t, "seen", select("#", ...)) end,
  __call = function(self, ...) return string.rep(...) end,
})
local got = 0
for i = 1, 200 do
  got = got + object.a + object.b + #(object .. i) + #object("ab", i % 4)
  object["k" .. i % 5] = i
end
print(got, rawget(object, "seen"))

-- An error has the position of the caller; the traceback names no function that is gone.
local function caller(i) local s = fmt(i == 150 and "%d" or "%s", "pear") return s end
for i = 1, 200 do
  local ok, message = pcall(caller, i)
  if not ok then print(i, message) end
end

-- In a coroutine, and through a protected call.
local co = coroutine.wrap(function(...)
  local t = 0
  for i = 1, 200 do
    local ok, s = pcall(fmt, "%d", i)
    t = t + #s + #rep("z", i % 3)
    if i % 50 == 0 then coroutine.yield(t) end
  end
  return t
end)
print(co(), co(), co(), co(), co())
