-- What the parser refuses, with its words, and the limits it has.

local function try(source)
  local f, message = loadstring(source, "=s")
  print(f and "accepted" or message)
end

for _, source in ipairs {
  "if", "if x", "if x then", "if x then else", "if x then elseif", "if x then else elseif y then end", "if x the end",
  "while", "while x", "while x do", "while x do until", "repeat", "repeat until", "repeat x() end",
  "for", "for i", "for i =", "for i = 1", "for i = 1,", "for i = 1, 2", "for i = 1, 2 do", "for i = 1, 2, 3, 4 do end",
  "for i, j = 1, 2 do end", "for i in", "for i in x", "for 1 = 1, 2 do end", "for i.j = 1, 2 do end", "for i in x do",
  "function", "function f", "function f(", "function f()", "function f(a", "function f(a,", "function f(a,)", "function f(1) end",
  "function f(..., a) end", "function f(a) return a", "function f.g:h.i() end", "function 1() end", "function () end",
  "local", "local x =", "local function", "local function f.g() end", "local x.y", "local x, = 1", "local 'x'", "local x y",
  "return return", "return 1,", "return; return", "x", "x.", "x:", "x:y", "x.1", "x[", "x[1", "x[]", "x(", "x(1", "x(1,", "x()=1",
  "x = ", "x = }", "x = {", "x = {1", "x = {1 2}", "x = {[1] 2}", "x = {[1]}", "x = {a=}", "x = {,}", "x = {1,,2}", "x = {a b}",
  "x = (", "x = (1", "x = ()", "x = 1 +", "x = + 1", "x = not", "x = #", "x = 1 2", "x = -", "x = a and", "x = 1 == ", "x = a ..",
  "x = function", "x = function(", "x = function() ", "end", "do", "do end end", "until x", "else", "elseif", "then", "x = = 1",
  "x == 1", "x.y:z = 1", "x() y", "and", "x = nil.y", "x = 'a'.y", "'a':len()", "x = {}.y", "{}.x = 1", "x = function() end()",
  "(x) = 1", "(x)", "1 = x", "nil = 1", "f = ...", "function f() return ... end", "function f() local a = function() return ... end end",
  "break", "while x do function f() break end end", "if x then break end", "local break = 1", "x.end = 1", "x = y.and", "local nil",
  "x = [==[ a ]=]", "x = 'unfinished", "x = \"a\nb\"", "x =\n\n\n$", "x = 1\ny = = 2\n", "local t = {\n1,\n2\nx = 3\n",
  "if a then\nb()\n\nelse\nc(\n", "f(\n)\n.x\n", "function f(a, b\n, c d)\nend", "x = a.b.c.", "x =", "goto", "goto =", "::x", "x = a.'b'",
  "local function f() return function() return x end", "a.b:c", "a.b:c 1", "f{", "f'", "return function(", "x = - - -", "((x)", "x = ((1)", "f(,)",
} do
  try(source)
end

-- Accepted, though unusual.
for _, source in ipairs {
  "", "local x;", "return", "return;", "do end", "do local a; local b; end",
  "x = {1;2,3;}", "x = {[1]=1,[2]=2,}", "f{}{}()'s'[[t]]:m{}", "local a = ... return ...", "a.b['c'].d = 1", "local function f() end return f",
  "repeat local x = 1 until x", "for i = 1, 2 do end for a, b, c in x do end", "return (((((1)))))", "x = function(...) return ... end",
  "while true do break end", "if a then elseif b then elseif c then else end", "a = b ; c = d", "::l:: goto l", "return -(-1), not not x, - - 1",
  "local a, b, c = (f()), g()", "x = a.b.c[d].e(f):g 'h' { i }", "x=1y=2", "f()f()", "return f 'a' 'b'",
} do
  try(source)
end

-- Limits.
local function list(n, sep, make)
  local t = {}
  for i = 1, n do t[i] = make(i) end
  return table.concat(t, sep)
end
local function name(i) return "v" .. i end
try("local " .. list(200, ",", name))
try("local " .. list(201, ",", name))
try("\nfunction f()\nlocal " .. list(201, ",", name) .. " end")
try("local " .. list(60, ",", name) .. " function f() return " .. list(60, "+", name) .. " end")
try("local " .. list(61, ",", name) .. " function f() return " .. list(61, "+", name) .. " end")
try("return " .. ("("):rep(150) .. "1" .. (")"):rep(150))
try("return " .. ("("):rep(250) .. "1" .. (")"):rep(250))
try(("do "):rep(150) .. ("end "):rep(150))
try(("do "):rep(250) .. ("end "):rep(250))
try("return " .. ("{"):rep(250) .. ("}"):rep(250))
print(loadstring("f(" .. list(300, ",", name) .. ")", "=s") == nil)
try("return " .. list(150, "..", name))
try("return " .. list(1000, "+", name))
try("return {" .. list(5000, ",", tostring) .. "}")
try("return " .. ("-"):rep(1) .. ("not "):rep(150) .. "1")
try("x = " .. list(300, " and ", name))
try("if x then " .. list(2000, " ", function(i) return "a" .. i .. "=" .. i end) .. " end")

-- The name of the chunk in messages.
for _, chunk in ipairs { "=name", "@file.lua", "plain", "two\nlines", "", "=", ("long "):rep(30), "@" .. ("dir/"):rep(30) .. "f.lua" } do
  print(select(2, loadstring("x", chunk)))
end
print(select(2, loadstring("local x =")))
print(select(2, loadstring("\n\nlocal x =")))
print("ok")
