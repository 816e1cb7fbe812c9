-- continue.

local out = {}
for i = 1, 10 do
  if i % 3 == 0 then continue end
  out[#out + 1] = i
end
print(table.concat(out, " "))
for k, v in ipairs { "a", "b", "c" } do
  if v == "b" then continue end
  io.write(k, v, " ")
end
for k, v in pairs { x = 1 } do if v then continue end print "never" end
print()
local i = 0
while i < 10 do
  i += 1
  if i % 2 == 0 then continue end
  io.write(i, " ")
end
print()
i = 0
repeat
  i += 1
  if i == 2 then continue end
  io.write(i, " ")
until i >= 4
print()

-- The innermost loop's, also with break and goto.
for a = 1, 4 do
  for b = 1, 4 do
    if b == a then continue end
    if b == 4 then break end
    io.write(a, b, " ")
    do if b == 3 then goto next_a end continue end
  end
  if a == 2 then continue end
  io.write("| ")
  ::next_a::
end
print()

-- Closures get a variable of their own each turn.
local fs = {}
for n = 1, 4 do
  local m = n * 10
  fs[#fs + 1] = function() m += 1 return n, m end
  if n == 2 then continue end
  m += 5
end
for n = 1, 4 do io.write(table.concat({ fs[n]() }, ":"), " ", table.concat({ fs[n]() }, ":"), " ") end
print()
i = 0
fs = {}
repeat
  local n = i
  fs[#fs + 1] = function() return n end
  i += 1
  if i == 2 then continue end
  do local z = i fs[#fs + 1] = function() return z end continue end
until n >= 3
for n = 1, #fs do io.write(fs[n](), " ") end
print()
i = 0
while i < 3 do
  local n = i
  fs[i] = function() n += 1 return n end
  i += 1
  if i == 2 then continue end
  fs[i - 1]()
end
print(fs[0](), fs[1](), fs[2]())

-- It is a name wherever no block ends after it.
local continue = 5
continue = continue + 1
continue += 1
print(continue, ({ continue = 8 }).continue)
local function f(continue) return continue end
print(f(9))
goto continue
print "never"
::continue::
do local t = { continue = function(x) return x end } print(t.continue(3), t.continue "s") end
for _, source in ipairs {
  "continue", "do continue end", "while x do continue; end", "while x do continue continue end", "continue = 1", "continue()", "for i = 1, 2 do (function() continue end)() end",
  "repeat if x then continue end local y = 1 until y", "repeat local y if x then continue end until y", "while x do continue local y end", "while x do if y then continue else continue end end",
  "repeat\n\nif x then continue end\nlocal y until true", "while x do do continue end local y end", "continue 5", "if x then continue elseif y then continue end",
} do
  print((source:gsub("\n", " ")), select(2, loadstring(source, "=s")) or "compiles")
end

-- Hot.
local sum = 0
for n = 1, 300 do
  if n % 3 == 0 then continue end
  local k = 0
  while true do
    k += 1
    if k < 3 then continue end
    break
  end
  sum += n * k
end
print(sum)
