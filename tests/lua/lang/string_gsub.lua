-- gsub: replacement by string, table and function; limits; anchors; empty matches.

local function show(...) print(string.gsub(...)) end

-- Strings with captures.
show("hello world", "o", "0")
show("hello world", "(%w+)", "<%1>")
show("hello world", "%w+", "%0 %0")
show("hello world", "(%w)(%w)", "%2%1")
show("abc", "%w", "%%")
show("abc", "b", "")
show("abc", "x", "y")
show("abc", "", "-")
show("", "", "-")
show("abc", "b*", "-")
show("a.b.c", "%.", "%%.")
show("a,b,c", ",", ", ")
show("path/to/file", "/", "\\")
show("x", "x", "a\0b")
show("key = value", "(%w+)%s*=%s*(%w+)", "%2 = %1")
show("abc", "(b)()", "%1%2")
show("one two", "(o)(n)(e)", "%3%2%1%0")

-- Limits.
show("aaaa", "a", "b", 2)
show("aaaa", "a", "b", 0)
show("aaaa", "a", "b", -1)
show("aaaa", "a", "b", 100)
show("aaaa", "a", "b", 2.7)
show("aaaa", "", "b", 2)

-- Anchors.
show("aaa", "^a", "b")
show("aaa", "a$", "b")
show("hello", "^", "> ")
show("hello", "$", " <")
show("a\nb", "^b", "x")
show("  trim me  ", "^%s*(.-)%s*$", "[%1]")

-- Tables: nil and false keep the match.
local vars = { name = "Lua", n = 5, f = 2.5, no = false, empty = "" }
show("$name $n $f $no $none [$empty]", "%$(%w+)", vars)
show("abc", "%w", { a = "1", b = 2 })
show("abc abc", "%w+", { abc = "xyz" }, 1)
show("k1", "(k)(1)", { k = "first capture is the key" })
show("abc", "%w", setmetatable({}, { __index = function(_, k) return k:upper() .. "." end }))
show("abc", "()", { "one", "two", [4] = "four" })

-- Functions: all captures are arguments; nil and false keep the match.
show("hello world", "%w+", string.upper)
show("hello world", "(%w)(%w*)", function(a, b) return a:upper() .. b end)
show("1 2 3", "%d", function(d) return d * 2 end)
show("1 2 3", "%d", function(d) if d ~= "2" then return "<" .. d .. ">" end end)
show("abc", "%w", function() return false end)
show("abc", "()(%w)", function(p, c) return p .. c end)
show("abc", "", function() return "." end)
local calls = 0
show("aaaaa", "a", function(c) calls = calls + 1 return calls <= 3 and calls or nil end, 4)
print(calls)
show("f(1,2) g(3)", "(%w)(%b())", function(f, args) return f .. args:upper():gsub("%d", function(d) return d + 1 end) end)

-- Errors leave no half result.
print(pcall(string.gsub, "abc", "%w", function(c) if c == "b" then error("at b", 0) end return c end))
print(pcall(string.gsub, "abc", "%w", function() return {} end))
print(pcall(string.gsub, "abc", "%w", { a = true }))
print(pcall(string.gsub, "abc", "(%w", "x"))
print(pcall(string.gsub, "abc", "%w", "%2"))
print(pcall(string.gsub, "abc", "(a)(b)", "%3"))
print(pcall(string.gsub, "abc", "%w", "%9"))
print(pcall(string.gsub, "abc", "(%w)", "%1%1%0"))

-- Common idioms.
local function trim(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end
print("[" .. trim("  a b  ") .. "]", "[" .. trim("") .. "]", "[" .. trim(" \t\n ") .. "]")
local function split(s, sep)
  local out = {}
  s:gsub("([^" .. sep .. "]*)" .. sep .. "?", function(c) out[#out + 1] = c end)
  return out
end
print(table.concat(split("a,b,,c", ","), "|"))
local function escape(s) return (s:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end
print(escape('<a href="x">R&D</a>'))
local function url(s) return (s:gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end)) end
local function unurl(s) return (s:gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end)) end
print(url("a b&c/\255"), unurl(url("a b&c/\255")) == "a b&c/\255")
print((("%d items"):gsub("%%d", "5")), (("a-b"):gsub("%-", "+")), (("CamelCaseWord"):gsub("%u", function(c) return "_" .. c:lower() end)))
print((("1234567"):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")))
print(select(2, ("the cat sat on the mat"):gsub("the", "")), select(2, ("x"):rep(1000):gsub("x", "yy")))
local long = ("word "):rep(2000)
print(#long:gsub("word", "longer word"), #(long:gsub("%s+", "")), select(2, long:gsub("%f[%w]%w+", string.upper)))

-- Recursion: gsub from inside a gsub callback.
local function expand(s, depth)
  return (s:gsub("%((%w)%)", function(c) return depth > 0 and expand("[(" .. c .. ")]", depth - 1) or c end))
end
print(expand("x(a)y(b)", 3))
print("ok")
