-- Syntax nested as deep as it may be.

local function try(n, open, middle, close)
  local f, e = loadstring(open:rep(n) .. middle .. close:rep(n), "=c")
  print(open, n, f and "ok" or e)
end

for _, n in ipairs { 198, 199 } do
  try(n, "function f() ", "", " end")
  try(n, "local function f() ", "", " end")
  try(n, "if x then ", "", " end")
  try(n, "repeat ", "", " until x")
end
for _, n in ipairs { 98, 99 } do
  try(n, "a = function() ", "", " end")
  try(n, "local a = x -> do ", "", " end")
end
for _, n in ipairs { 65, 66 } do
  try(n, "local a = f {function() ", "", " end}")
end
local function expression(n, open, middle, close)
  local f, e = loadstring("return " .. open:rep(n) .. middle .. close:rep(n), "=c")
  print(open, n, f and "ok" or e)
end
for _, n in ipairs { 197, 198 } do
  expression(n, "(", "1", ")")
  expression(n, "{", "1", "}")
  expression(n, "{x = ", "1", "}")
  expression(n, "{[", "1", "] = 2}")
  expression(n, "a[", "1", "]")
  expression(n, "1 .. ", "1", "")
  expression(n, "2 ^ ", "1", "")
  expression(n, "-", "x", "")
  expression(n, "|a| -> {", "", "}")
  expression(n, "x ? ", "1", " : 2")
  expression(n, "{x ? y : ", "1", "}")
  expression(n, "x -> ", "1", "")
end
for _, n in ipairs { 60, 100 } do
  expression(n, "f(", "1", ")")
  expression(n, "f {", "1", "}")
  expression(n, "f?.(x ? {", "1", "} : 2)")
end
