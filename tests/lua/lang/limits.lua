-- The limits of the language, each with what is just below it.

local function rep(f, n, sep)
  local t = {}
  for i = 1, n do t[i] = f(i) end
  return table.concat(t, sep or "")
end
local function name(i) return "a" .. i end
local function locals(n) return rep(|i| -> "local a" .. i .. " ", n) end
local function try(what, n, source)
  local f, e = loadstring(source, "=c")
  print(what, n, f and "ok" or e)
end

for _, n in ipairs { 200, 201 } do
  try("locals", n, locals(n))
  try("locals of a function", n, "\n\nfunction f() " .. locals(n) .. " end")
  try("names of a local", n, "local " .. rep(name, n, ","))
  try("parameters", n, "\nfunction f(" .. rep(name, n, ",") .. ") end")
  try("constants", n, "const " .. rep(name, n, ","))
  try("for", n, locals(n - 4) .. "for i = 1, 2 do end")
  try("for in", n, locals(n - 4) .. "for i in x do end")
  try("targets", n - 2, rep(name, n - 2, ",") .. " = 1")
  try("elseif", n, "if a then " .. ("elseif b then "):rep(n) .. "end")
  try("not", n - 3, "return " .. ("not "):rep(n - 3) .. "1")
  try("operands", n - 2, "return " .. rep(name, n - 2, ".."))
  try("labels", n - 1, rep(|i| -> "::a" .. i .. "::", n - 1))
end
for _, n in ipairs { 60, 61 } do
  try("upvalues", n, locals(100) .. "\nfunction f() return " .. rep(name, n, " + ") .. " end")
  try("upvalues of both", n, locals(100) .. "\nfunction f()\nfunction g() return " .. rep(name, n, " + ") .. " end end")
  try("upvalues of the outer", n, locals(100) .. "\nfunction f() x = " .. rep(name, 59, " + ") .. "\nfunction g() return " .. rep(|i| -> name(i + n - 59), 59, " + ") .. " end end")
end
for _, n in ipairs { 240, 247, 248, 249, 250, 255 } do
  try("arguments", n, "f(" .. rep(name, n, ",") .. ")")
  try("results", n, "return " .. rep(name, n, ","))
  try("values", n, "x = " .. rep(name, n, ","))
  try("items", n, "x = {" .. rep(name, n, ",") .. "}")
end
for _, n in ipairs { 65535, 65536, 65537 } do
  try("string constants", n, rep(|i| -> "x=" .. (i % 2 == 0 ? "'" .. i .. "'" : "a" .. i) .. "\n", n - 1))
end
for _, n in ipairs { 65536, 65537 } do
  try("number constants", n, "\nfunction f() " .. rep(|i| -> "x=" .. i .. ".5\n", n) .. " end")
end
for _, n in ipairs { 65476, 65477 } do
  try("variables", n, ("do local a end "):rep(n))
  try("variables around", n, "local x, y function f() " .. ("do local a end "):rep(n - 2) .. " end")
  try("breaks", n - 1, ("while x do break end "):rep(n - 1))
end
for _, n in ipairs { 32764, 32769 } do
  local body = ("a = nil "):rep(math.floor(n / 2))
  try("if", n, "if x then " .. body .. "end")
  try("while", n, "while x do " .. body .. "end")
  try("repeat", n, "repeat " .. body .. "until x")
  try("for", n, "for i = 1, 2 do " .. body .. "end")
  try("for in", n, "for i in x do\n" .. body .. "\nend")
  try("goto", n, "goto x " .. body .. "::x::")
  try("goto back", n, "::x:: " .. body .. "goto x")
  try("ternary", n, "x = a ? f(" .. ("z+"):rep(n) .. "1) : 2")
  try("return", n, "function f() if x then return end " .. body .. " local a return function() return a end end")
end
