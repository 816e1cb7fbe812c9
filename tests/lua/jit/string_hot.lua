-- Strings made, cut and compared in hot loops.

local function checksum(s, c)
  c = c or 0
  for i = 1, #s do c = (c * 31 + s:byte(i)) % 1000003 end
  return c
end

-- Concatenation with numbers of all kinds; growing strings; buffers.
local c = 0
for i = 1, 600 do
  local s = "v" .. i .. ":" .. i / 4 .. "," .. -i .. "," .. i * 1e10
  c = checksum(s, c)
end
print(c)
local s = ""
for i = 1, 800 do
  s = s .. i % 10
  if #s > 100 then s = s:sub(51) end
end
print(s)
local parts = {}
for i = 1, 1000 do parts[#parts + 1] = i % 7 == 0 and "seven" or i end
print(checksum(table.concat(parts, "|")))

-- sub, byte, char, upper, lower, rep, reverse, len, format.
local text = "The quick brown fox jumps over the lazy dog"
local vowels, rebuilt = 0, {}
for round = 1, 20 do
  for i = 1, #text do
    local ch = text:sub(i, i)
    if ch:lower():find("[aeiou]") then vowels = vowels + 1 end
    rebuilt[i] = string.char(ch:byte())
  end
end
print(vowels, table.concat(rebuilt) == text)
c = 0
for i = 1, 500 do
  local w = ("x"):rep(i % 9) .. i
  c = checksum(w:reverse():upper(), c) + #w
  c = c + #string.format("%5d|%-5s|%x|%.2f", i, w, i, i / 3)
end
print(c)
for i = -60, 60 do c = c + #text:sub(i) + #text:sub(i, i + 5) + (text:byte(i) or 0) end
print(c)

-- Comparison: equality with interned constants, ordering.
local same, less = 0, 0
local words = { "apple", "banana", "apple", "cherry", "app", "" }
for i = 1, 1200 do
  local a, b = words[i % 6 + 1], words[i * 7 % 6 + 1]
  if a == b then same = same + 1 end
  if a < b then less = less + 1 elseif a > b then less = less - 1 end
  if a == "apple" then same = same + 10 end
  if a ~= "app" .. "le" then less = less + 10 end
end
print(same, less)

-- Keys made in the loop.
local t = {}
for i = 1, 1000 do
  local key = "key" .. i % 50
  t[key] = (t[key] or 0) + i
  t[i .. ""] = true
end
print(t.key0, t.key49, t["500"], t["1001"])

-- find, match, gsub, gmatch.
local found, captured = 0, 0
for i = 1, 300 do
  local line = "name" .. i .. "=value" .. i * 2 .. ";flag"
  local a, b = line:find("=", 1, true)
  found = found + a + b + (line:find("value%d+") or 0)
  local k, v = line:match("^(%a+%d+)=(%w+)")
  captured = captured + #k + #v
  captured = captured + select(2, line:gsub("%d", "")) + #line:gsub("%a+", "<%0>")
  for d in line:gmatch("%d+") do captured = captured + d end
end
print(found, captured)

-- tostring and tonumber.
local total = 0
for i = 1, 1000 do
  total = total + tonumber(tostring(i)) + tonumber(i .. ".5") + (tonumber("x" .. i) or 0) + tonumber(i % 2 == 0 and "0x" .. i or i) + #tostring(i / 8)
end
print(total)
local kinds = { nil, true, "s", 5, 2.5 }
local tl = 0
for i = 1, 500 do tl = tl + #tostring(kinds[i % 6]) end
print(tl)

-- A tokenizer and a counter of characters.
local source, tokens = ("local x1 = (a + b) * 42 - foo(bar, 3.5) "):rep(10), {}
local at = 1
while at <= #source do
  local b = source:byte(at)
  if b == 32 then
    at = at + 1
  elseif b >= 48 and b <= 57 then
    local e = at
    while e <= #source and (source:byte(e) == 46 or source:byte(e) >= 48 and source:byte(e) <= 57) do e = e + 1 end
    tokens[#tokens + 1] = source:sub(at, e - 1) + 0
    at = e
  elseif source:find("^%a", at) then
    local _, e = source:find("^%w+", at)
    tokens[#tokens + 1] = source:sub(at, e)
    at = e + 1
  else
    tokens[#tokens + 1] = string.char(b)
    at = at + 1
  end
end
local numbers, names = 0, {}
for _, tok in ipairs(tokens) do if type(tok) == "number" then numbers = numbers + tok else names[tok] = (names[tok] or 0) + 1 end end
print(#tokens, numbers, names.foo, names["("], names["local"])
local freq = {}
for i = 1, #source do
  local ch = source:sub(i, i)
  freq[ch] = (freq[ch] or 0) + 1
end
print(freq[" "], freq.a, freq.x, freq["4"])
print("ok")
