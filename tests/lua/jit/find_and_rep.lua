-- string.find of plain texts, string.rep, and put of string.buffer.

local text = "the quick brown fox jumps over the lazy dog, then rests"
local n, none = 0, 0
for i = 1, 400 do
  local a, b = text:find("the", i % 60 + 1, true)
  if a then n = n + a * 3 + b else none = none + 1 end
  n = n + (text:find(" ", -(i % 70)) or -1)
  n = n + (text:find("", i % 64) or -100) + #tostring(text:find("", 100))
  local c = text:find(i % 2 == 0 and "fox" or "cat")
  if c then n = n + c end
end
print(n, none)

-- The same text is no pattern and one; the last argument decides.
local points, hits = "a.b.c+d", 0
for i = 1, 300 do
  local plain = i % 3 == 0
  local at, to = points:find(".", 2, plain)
  hits = hits + at * 10 + to
  local sep = i % 5 == 0 and "+" or "%+"
  at = points:find(sep, 1, sep == "+")
  hits = hits + at
end
print(hits)

-- Splitting.
local function split(s, sep)
  local parts, from = {}, 1
  while true do
    local a, b = s:find(sep, from, true)
    if not a then break end
    parts[#parts + 1] = s:sub(from, a - 1)
    from = b + 1
  end
  parts[#parts + 1] = s:sub(from)
  return parts
end
local sizes = {}
for i = 1, 100 do
  local parts = split("one,two,,three," .. i, ",")
  sizes[#parts] = (sizes[#parts] or 0) + #table.concat(parts)
end
print(sizes[5])
print(table.concat(split("a--b---c", "--"), "|"))

-- Other kinds of arguments.
local t = 0
for i = 1, 300 do
  t = t + (("x" .. i):find(i) or 0) + (tostring(i):find(i % 10, i % 2 + 0.5) or 0)
  t = t + (("12345"):find("3", "2"))
end
print(t)
for i = 1, 200 do
  local ok, message = pcall(string.find, "abc", i == 150 and {} or "b")
  if not ok then print(i, message) end
end

local size, last = 0, nil
for i = 1, 300 do
  last = ("ab"):rep(i % 7 - 2)
  size = size + #last + #("-"):rep(i) + #("xy"):rep(i % 4, ", ") + #(""):rep(i)
end
print(size, ("=%s="):format(last))

-- Buffers that have room, grow, are emptied, or read from a string.
local buffer = require("string.buffer")
local b, total = buffer.new(), 0
for i = 1, 500 do
  b:put("key", i, "=", i / 4, ";")
  if i % 50 == 0 then total = total + #b; if i % 100 == 0 then total = total + #b:get() else b:get(10) end end
  if i == 333 then b:set("from a string") end
  if i == 444 then b:free() end
end
print(total, #b, b:get(20))
local chained = 0
for i = 1, 200 do
  local fresh = buffer.new(16):put(i):put("-", -i, "-"):put()
  chained = chained + #fresh + #fresh:put(0.1, 1e100, 2 ^ 53):tostring()
end
print(chained)
for i = 1, 200 do
  local ok, message = pcall(b.put, b, i == 170 and {} or "x")
  if not ok then print(i, message) end
end
print(#b)

-- Pointers into a buffer see what is put there.
local has_ffi, ffi = pcall(require, "ffi")
local seen = 0
if has_ffi then
  local own = buffer.new(64)
  for i = 1, 200 do
    own:reset()
    own:put("a")
    local p = own:ref()
    local before = p[0]
    own:put(i % 10)
    seen = seen + before + own:ref()[1]
  end
end
print(seen)

-- Names of nil and booleans; what is written to files.
local names = 0
for i = 1, 300 do
  local s = tostring(i % 3 == 0) .. tostring(nil) .. tostring(i % 2 == 0 and true or nil)
  names = (names * 7 + #s) % 100003
end
print(names, tostring(true), tostring(false), tostring(nil), select("#", tostring(nil)))
local file = io.tmpfile()
for i = 1, 300 do
  file:write("line ", i, " ", i / 8, "\n")
  if i == 200 then print(pcall(file.write, file, "part ", {})) end
end
file:seek("set")
local text_of_file = file:read("*a")
print(#text_of_file, text_of_file:sub(-24, -2))
file:close()
for i = 1, 200 do
  local ok, message = pcall(file.write, i == 150 and file or io.stderr)
  if not ok then print(message) end
end
