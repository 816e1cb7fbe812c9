-- Long strings built in many ways; buffers in tables; interning of many different and many equal strings.

local function checksum(s)
  local c = 0
  for i = 1, #s do c = (c * 31 + s:byte(i)) % 1000003 end
  return c
end

-- One by one, doubling, from both ends.
local s = ""
for i = 1, 2000 do s = s .. string.char(97 + i % 26) end
print(#s, checksum(s))
local d = "ab"
for _ = 1, 16 do d = d .. d end
print(#d, d:sub(1, 4), d:sub(-4), checksum(d:sub(1, 1000)))
local both = "|"
for i = 1, 300 do both = i % 10 .. both .. i % 7 end
print(#both, both:sub(295, 307), checksum(both))

-- Through a table, through format, through rep and gsub.
local parts = {}
for i = 1, 5000 do parts[#parts + 1] = i % 3 == 0 and "fizz" or i % 5 == 0 and "buzz" or i end
local joined = table.concat(parts, ",")
print(#joined, checksum(joined))
local rows = {}
for i = 1, 500 do rows[i] = string.format("%05d %-10s|%6.2f|%x", i, "name" .. i % 17, i / 7, i * i) end
local sheet = table.concat(rows, "\n")
print(#sheet, checksum(sheet))
print(#("line\n"):rep(1000), checksum((("x-y "):rep(500):gsub("%-", "+"))))

-- Many operands in one concatenation.
local function many(a, b, c, e, f, g, h) return a .. b .. c .. e .. f .. g .. h .. a .. b .. c .. e .. f .. g .. h .. 1 .. 2.5 .. "end" end
print(many("a", 1, "b", 2.5, "c", -3, ""), #many(s, s, s, s, s, s, s))

-- Equal strings made differently are one key; many different ones all stay apart.
local set, count = {}, 0
for i = 1, 20000 do
  local key = "key" .. i % 5000
  if not set[key] then
    set[key] = i
    count = count + 1
  end
end
print(count, set.key0, set["key" .. 4999], set[("key"):rep(1) .. 77])
local seen = {}
for i = 0, 255 do for j = 0, 255, 15 do seen[string.char(i, j)] = (seen[string.char(i, j)] or 0) + 1 end end
local n = 0
for k, v in pairs(seen) do
  assert(v == 1 and #k == 2)
  n = n + 1
end
print(n)
local prefix = ("p"):rep(300)
local long = {}
for i = 1, 1000 do long[prefix .. i .. prefix] = i end
local sum = 0
for i = 1, 1000 do sum = sum + long[prefix .. i .. prefix] end
print(sum, long[prefix .. 1001 .. prefix])

-- Splitting and joining again.
local words = {}
for w in joined:gmatch("[^,]+") do words[#words + 1] = w end
print(#words, table.concat(words, ",") == joined)
local reversed = {}
for i = #words, 1, -1 do reversed[#reversed + 1] = words[i]:reverse() end
print(table.concat(reversed, ","):reverse() == joined)

-- A rope that is flattened, a string used as a queue, run-length coding.
local function flatten(node, out)
  if type(node) == "string" then out[#out + 1] = node return out end
  for i = 1, #node do flatten(node[i], out) end
  return out
end
local rope = "leaf"
for i = 1, 100 do rope = { rope, "-", tostring(i) } end
print(#table.concat(flatten(rope, {})), checksum(table.concat(flatten(rope, {}))))
local queue, taken = "", 0
for i = 1, 1000 do
  queue = queue .. string.char(65 + i % 26)
  if #queue > 50 then
    taken = taken + queue:byte(1)
    queue = queue:sub(2)
  end
end
print(queue, taken)
local function rle(text)
  local out, i = {}, 1
  while i <= #text do
    local c, run = text:sub(i, i), 1
    while text:sub(i + run, i + run) == c do run = run + 1 end
    out[#out + 1] = run .. c
    i = i + run
  end
  return table.concat(out)
end
local function unrle(text) return (text:gsub("(%d+)(%D)", function(k, c) return c:rep(tonumber(k)) end)) end
local pattern = ("aaabbc"):rep(20) .. ("z"):rep(150)
print(rle(pattern):sub(-10), unrle(rle(pattern)) == pattern)
local levels = {}
for i = 1, 50 do levels[i] = ("<" .. i .. ">"):rep(2) .. (levels[i - 1] or "") end
print(#levels[50], checksum(levels[50]))
print("ok")
