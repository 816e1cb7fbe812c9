-- len, sub, byte, char, rep, reverse, lower, upper, comparison, embedded zeros, indexing through methods.

local s = "abcdefghij"

-- sub with all kinds of bounds.
for _, c in ipairs {
  { 1, 3 }, { 3 }, { -3 }, { -3, -2 }, { 0 }, { 0, 2 }, { -100, 2 }, { 5, 100 }, { 5, 4 }, { 11 }, { 10 }, { -1, -1 }, { -10, -10 },
  { 2, -2 }, { -2, 2 }, { 1.9, 3.9 }, { -1.5 }, { 1000000, -1 }, { -1000000, 1000000 }, { 1, -11 }, { 1, -10 }, { 11, -1 }, { 1, 0 }, { 100, 200 },
} do
  print(c[1], c[2], s:sub(c[1], c[2] or -1), ("[" .. s:sub(unpack(c)) .. "]"))
end

-- byte and char.
print(s:byte(), s:byte(3), s:byte(-1), s:byte(100), s:byte(0), (""):byte())
print(s:byte(1, 3), s:byte(9, 20), select("#", s:byte(5, 4)), select("#", s:byte(1, -1)))
print(string.char(), string.char(72, 105), #string.char(0, 255, 128), string.char("65"))
local bytes = {}
for i = 0, 255 do bytes[i + 1] = string.char(i) end
local all = table.concat(bytes)
print(#all, all:byte(1), all:byte(256), all:sub(66, 70), all:reverse():byte(1))
local sum = 0
for i = 1, #all do sum = sum + all:byte(i) end
print(sum, #{ all:byte(1, -1) })

-- rep, reverse, lower, upper, len.
print(("ab"):rep(3), ("ab"):rep(0), ("ab"):rep(-1), ("ab"):rep(1), (""):rep(100), ("x"):rep(3, ", "), ("x"):rep(1, ","), ("x"):rep(0, ","), ("a"):rep(2.9))
print(#("x"):rep(100000), #("abc"):rep(1000, "--"), ("ab"):rep(3, ""))
print(("abc"):reverse(), (""):reverse(), ("a"):reverse(), ("ab\0cd"):reverse():byte(3))
print(("MiXeD 123 \195\132"):lower(), ("MiXeD 123 \195\164"):upper(), (""):upper())
print(#"", #"a\0b", ("a\0b"):len(), ("\0"):len(), #"\195\164")

-- Embedded zeros everywhere.
local z = "a\0b\0c"
print(#z, z:sub(2, 2) == "\0", z:sub(3, 3), z == "a\0b\0c", z == "a\0b", z < "a\0c", z > "a", z:upper():sub(3, 3), #(z .. z), #z:rep(3))
local keyed = { ["k\0one"] = 1, ["k\0two"] = 2, k = 3 }
print(keyed["k\0one"], keyed["k\0two"], keyed["k"], keyed["k\0"])
print((z:gsub("%z", "0")), z:find("b", 1, true), z:find("\0", 3, true), (z:gsub("[%z]", "_")), #tostring(z))

-- Equality and identity of equal strings made in different ways.
local built = ""
for _, c in ipairs { "h", "e", "l", "l", "o" } do built = built .. c end
print(built == "hello", ("olleh"):reverse() == built, ("HELLO"):lower() == built, table.concat({ "hel", "lo" }) == built, ("xhellox"):sub(2, -2) == built)
local t = { [built] = "found" }
print(t.hello, t["hel" .. "lo"], rawequal(built, "hello"))
local long1, long2 = ("long"):rep(500) .. "!", ("long"):rep(500) .. "!"
print(long1 == long2, long1 ~= ("long"):rep(500) .. "?", #long1)

-- Comparison is by bytes.
print("a" < "b", "a" < "B", "abc" < "abd", "abc" < "ab", "" < "a", "Z" < "a", "10" < "9", "a" <= "a", "\255" > "a", "a\0a" < "a\0b")
local words = { "pear", "Apple", "fig", "apple", "banana", "", "Fig", "app", "apple pie", "10", "9", "\200" }
table.sort(words)
print(table.concat(words, ","))

-- Functions and methods, with numbers for strings.
print(string.len("abc"), ("abc").len("xyzw"), string.len(123), string.sub(12345, 2, 3), string.rep(7, 3), string.reverse(12))
print(string.upper("x" .. 1.5), string.byte(9), #string.format("%s", 1e15))
print(("x"):rep(3):upper():lower():len(), ("%s=%d"):format("k", 3), ("a,b"):find(",", 1, true))

-- concat of mixed operands.
local n, f, str = 5, 2.5, "s"
print(n .. f .. str .. n, n .. "", f .. "", 1 .. 2, -1 .. "", 1e100 .. "", 2 ^ 31 .. "", -2 ^ 31 .. "", 0.1 + 0.2 .. "")
local parts = ""
for i = 1, 300 do parts = parts .. i .. (i % 50 == 0 and "\n" or " ") end
print(#parts, parts:sub(-20, -2))
print(("x"):rep(20) .. ("y"):rep(20) .. 1 .. 2.5 .. "" .. "z", ("" .. "" .. ""):len())
print("ok")
-- All bytes at all places of strings of all lengths up to 40, short and long.
local bytes = {}
for i = 0, 255 do bytes[#bytes + 1] = string.char(i) end
local all = table.concat(bytes)
for n = 0, 40 do
  for at = 1, 256 - n do
    local s = all:sub(at, at + n - 1)
    assert(s:upper() == s:gsub("[a-z]", function(c) return string.char(c:byte() - 32) end))
    assert(s:lower() == s:gsub("[A-Z]", function(c) return string.char(c:byte() + 32) end))
  end
end
