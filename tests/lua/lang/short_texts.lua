-- Texts that are joined and cut without a buffer, around the lengths at which the interpreter does it otherwise.
local char, sub, concat, format = string.char, string.sub, table.concat, string.format

-- A text of n bytes, and the same made byte by byte.
local function text(n, from)
  local t = {}
  for i = 1, n do t[i] = char(97 + (from + i) % 26) end
  return concat(t)
end

local function same(a, b, what)
  if a ~= b or #a ~= #b then error(what .. ": " .. a .. " and " .. b) end
end

local function by_bytes(...)
  local bytes = {}
  for _, s in ipairs { ... } do
    for i = 1, #s do bytes[#bytes + 1] = s:byte(i) end
  end
  local out = {}
  for i = 1, #bytes do out[i] = char(bytes[i]) end
  return concat(out)
end

local lengths = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 55, 56, 57, 95, 96, 97, 111, 112, 113, 128, 129, 200 }
local n = 0
for _, a in ipairs(lengths) do
  for _, b in ipairs(lengths) do
    local x, y = text(a, 1), text(b, 7)
    same(x .. y, by_bytes(x, y), "two")
    same(x .. "," .. y, by_bytes(x, ",", y), "three")
    same(x .. y .. x .. y, by_bytes(x, y, x, y), "four")
    same(concat({ x, y, x }, y), by_bytes(x, y, y, y, x), "separator")
    same(concat({ "", x, "", y, "" }, "-"), by_bytes("-", x, "--", y, "-"), "empty elements")
    same(format("%s%s", x, y), by_bytes(x, y), "format")
    same(format("<%s|%d>%s", x, b, y), by_bytes("<", x, "|", b .. "", ">", y), "format with a number")
    n = n + 7
  end
end
print(n)

-- Ranges of elements.
local list = { "a", "bb", "", "dddd", 5, "f" }
for i = -1, 7 do
  for j = -1, 7 do
    local ok, got = pcall(concat, list, "+", i, j)
    io.write(i, " ", j, " ", ok and '"' .. got .. '"' or got:gsub("^.-:%d+: ", ""), "\n")
  end
end
print(concat({}), concat({}, ","), concat({ "x" }, ","), concat({ [0] = "no", "yes" }))
print(pcall(concat, { "a", {}, "c" }), pcall(concat, { "a", nil, "c" }, ",", 1, 3))
print(concat(setmetatable({ "a" }, { __index = function() return "b" end }), ","))

-- Parts of a string: all of it, one byte, none, more.
local s = "hello, world"
local parts = {}
for i = -14, 14 do
  for j = -14, 14 do
    local from, to = i, j
    if from < 0 then from = math.max(#s + 1 + from, 1) elseif from == 0 then from = 1 end
    if to < 0 then to = #s + 1 + to elseif to > #s then to = #s end
    local bytes = {}
    for k = from, to do bytes[#bytes + 1] = char(s:byte(k)) end
    same(s:sub(i, j), concat(bytes), i .. " to " .. j)
    same(sub(s, i, j), concat(bytes), i .. " to " .. j)
  end
  parts[#parts + 1] = s:sub(i)
end
print(concat(parts, "|"))
print(sub(12345, 2, 3), sub("abc", "2"), sub("abc", 2.9), sub("abc", -1e10, 1e10), sub("", 1, 1) == "")
print(pcall(sub), pcall(sub, "abc"), pcall(sub, {}, 1), pcall(sub, "abc", {}))
print(sub("abc", 2, 3, "more"), #sub(text(3000, 1), 2), sub(text(3000, 1), 2) == text(2999, 2))
print(select("#", sub("abc", 1)), (sub("\0\255", 2)):byte(), #sub("\0\255", 1, 1))

-- Formats that are text, %s and %d, and what follows them.
print(format("plain"), format(""), format("%%%s%%", "x"), format("%s", 12), format("%d", 12), format("%d", -2147483648))
print(format("%s %s %s", "a", nil, true), format("%d|%5d|%s", 1, 2, "c"), format("%s%x%s", "a", 255, "b"), format("%d", "7"), format("%d", 2.5))
print(pcall(format, "%s"), pcall(format, "%d", "x"), pcall(format, "%s %"), pcall(format, "%s%y", 1))
print(format("%s", setmetatable({}, { __tostring = function() return "shown" end })), format("%s %d", 1.5, 3))
