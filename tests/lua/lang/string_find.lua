-- find, match, gmatch with every pattern item.

local function find(...) print(..., "->", string.find(...)) end
local function match(s, p, init) print(s, p, "->", string.match(s, p, init)) end

-- Plain and anchored.
find("hello world", "wor")
find("hello world", "o", 6)
find("hello", "")
find("hello", "", 3)
find("hello", "", 6)
find("hello", "", 7)
find("hello", "", 10)
find("", "")
find("hello", "l", -2)
find("hello", "h", -100)
find("a.b*c", ".", 1, true)
find("a.b*c", "b*c", 1, true)
find("a.b*c", "*", 1, true)
find("abc", "xyz", 1, true)
find("hello", "^h")
find("hello", "^e")
find("hello", "^l", 3)
find("hello", "lo$")
find("hello", "l$")
find("a^b$c", "b$c")
find("a^b", "a^b")
find("x$", "$$")
find("hello", "^$")
find("", "^$")
find("aXb", "%u")

-- Classes.
local chars = "aZ5 _-\t\n\0\127\200.,!"
for _, class in ipairs { "%a", "%d", "%l", "%s", "%u", "%w", "%x", "%p", "%c", "%z", "%g", "." } do
  local _, yes = chars:gsub(class, "")
  local no = 0
  if class ~= "." then no = select(2, chars:gsub(class:upper(), "")) end
  print(class, yes, no)
end

-- Sets.
match("abc123", "[a-c]+")
match("abc123", "[^a-c]+")
match("a-b", "[a-]+")
match("a-b", "[-a]+")
match("a]b", "[]]")
match("a]b", "[^]]+")
match("x^y", "[x^]+")
match("key=val", "[%w_]+=[%w_]+")
match("f00 BAR", "[%u%s]+")
match("0x1F", "0[xX]%x+")
match("a.b", "[.]")
match("a%b", "[%%]")
match("caf\195\169", "[\128-\255]+")
match("z-9", "[a-z%-0-9]+")

-- Repetition: greedy, lazy, optional.
match("aaa", "a*")
match("aaa", "a+")
match("aaa", "a-")
match("aaab", "a-b")
match("<a><b>", "<.->")
match("<a><b>", "<.*>")
match("color colour", "colou?r")
match("colour", "colou?r")
match("aaa", "^a-$")
match("abab", "(ab)+")
match("ab+", "b+")
match("", "a*")
match("xay", "a?y")
match("ba", "a-a")

-- Captures: nested, position, empty, back references.
match("key = value", "(%w+)%s*=%s*(%w+)")
match("2024-03-15", "(%d+)-(%d+)-(%d+)")
match("abc", "(a(b(c)))")
match("hello", "()ll()")
match("hello", "(h)(e)(l)(l)(o)")
match("abc", "()")
match("abc", "(.-)(.*)")
match("abcabc", "(abc)%1")
match([["quoted" 'text']], [[(["'])(.-)%1]])
match("aa bb cd", "(%a)%1 (%a)%2")
match("x = 'it'", "(['\"])(.*)%1")
match("abc", "((((((((((a))))))))))")

-- %b and %f.
match("f(a(b)c)d", "%b()")
match("f(a(b", "%b()")
match("[[x]y]", "%b[]")
match("if x then y end", "%bxy")
match("THE (quick) fox", "%f[%a]%a+%f[%A]")
match("THE (quick) fox", "%f[%l]%l+")
match("foo bar", "%f[%w]%w+$")
match("a1", "%f[%d]%d")
print(("THE (quick) fox"):find("%f[%a]%a+%f[%A]", 5))
print((("alo aalo allo"):gsub("%f[%a]a", "X")))

-- match with init and anchors.
match("  trim  ", "^%s*(.-)%s*$")
match("abcdef", "%a", 4)
match("abcdef", "^%a", 4)
match("abcdef", "%a", -1)
match("abcdef", "%a", 7)
match("abcdef", ".-", 20)

-- gmatch.
local function all(s, p)
  local out = {}
  for a, b in s:gmatch(p) do out[#out + 1] = tostring(a) .. (b and "+" .. tostring(b) or "") end
  print(s, p, #out, table.concat(out, "|"))
end
all("one two  three", "%a+")
all("k1=v1, k2=v2", "(%w+)=(%w+)")
all("abc", "")
all("abc", "b*")
all("a,b,,c", "([^,]*)")
all("abc", "()")
all("hello", "l")
all("aXbXc", "[^X]+")
all("", "x*")
all("^a^a", "^a")
local gen = ("a b"):gmatch("%a")
print(gen(), gen(), gen(), type(gen))

-- Long subjects, deep but legal patterns.
local long = ("a"):rep(5000) .. "b"
print(long:find("a*b"), long:find("a-b"), #long:match("a+"), long:find("(a*)b$") == 1)
print(long:match("^(a+)b$") == ("a"):rep(5000), (long:gsub("a", "")), long:find("ab", 1, true))
print(pcall(string.match, ("x"):rep(10), ("(x"):rep(40)))
print(pcall(string.find, "a", ("a?"):rep(150) .. "b"))
for _, bad in ipairs { "[", "[a", "[^", "[]", "[a-", "%", "(", "(()", "%1", "(a)%2", "%f", "%fa", "%b", "%bx", "a)" , "[%", "[%a" } do
  print(bad, pcall(string.match, "aaa", bad))
end
print("ok")
