-- goto and labels: continue, redo, state machines, nested exits, closures in loops made with goto.

-- continue
local out = {}
for i = 1, 10 do
  if i % 3 == 0 then goto continue end
  out[#out + 1] = i
  ::continue::
end
print(table.concat(out, " "))
local i = 0
while i < 10 do
  i = i + 1
  if i % 2 == 0 then goto continue end
  io.write(i, " ")
  ::continue::
end
print()
i = 0
repeat
  i = i + 1
  if i == 2 then goto continue end
  io.write(i, " ")
  ::continue::
until i >= 4
print()

-- Out of nested loops.
for a = 1, 10 do
  for b = 1, 10 do
    for c = 1, 10 do
      if a * b * c == 42 then
        print(a, b, c)
        goto found
      end
    end
  end
end
::found::

-- Backwards: a loop.
do
  local n, sum = 0, 0
  ::again::
  n = n + 1
  sum = sum + n
  if n < 100 then goto again end
  print(n, sum)
end

-- A fresh local at each round of a goto loop.
do
  local fs, n = {}, 0
  ::top::
  do
    n = n + 1
    local v = n * 2
    fs[n] = function() v = v + 1 return v end
    if n < 3 then goto top end
  end
  print(fs[1](), fs[1](), fs[2](), fs[3]())
end
do
  local fs, n = {}, 0
  ::top::
  local v = n
  fs[#fs + 1] = function() return v end
  n = n + 1
  if n < 3 then goto top end
  print(fs[1](), fs[2](), fs[3]())
end

-- A state machine.
local function accepts(text)
  local at = 1
  local function nextchar()
    at = at + 1
    return text:sub(at - 1, at - 1)
  end
  local c
  ::start:: c = nextchar()
  if c == "a" then goto start elseif c == "b" then goto seen_b elseif c == "" then goto reject end
  goto reject
  ::seen_b:: c = nextchar()
  if c == "b" then goto seen_b elseif c == "" then goto accept end
  ::reject:: do return false end
  ::accept:: do return true end
end
print(accepts("aab"), accepts("b"), accepts("aa"), accepts("aba"), accepts(""))

-- The same label in different blocks and functions.
do goto l1 ::l1:: end
do goto l1 ::l1:: end
local f = function() goto l1 ::l1:: return 1 end
print(f())
do
  goto skip
  do ::inner:: end
  ::skip::
end
if true then goto out else error("no") end
::out::

-- redo: run the body again with the same loop variable.
local redone = {}
for k = 1, 3 do
  local tries = 0
  ::redo::
  tries = tries + 1
  redone[#redone + 1] = k .. "." .. tries
  if tries < k then goto redo end
end
print(table.concat(redone, " "))

-- goto with varargs, calls and method names.
local function first_positive(...)
  for k = 1, select("#", ...) do
    local v = (select(k, ...))
    if v <= 0 then goto continue end
    do return v end
    ::continue::
  end
end
print(first_positive(-1, 0, 5, 6), first_positive())

-- What is refused.
for _, source in ipairs {
  "goto nowhere", "do ::a:: end goto a", "::a:: ::a::", "goto f local x ::f:: print(x)", "break", "do break end",
  "for i = 1, 2 do end goto i", "function f() goto out end ::out::", "goto 1", "::1::", "::a:", "::a:: local function g() goto a end",
  "do goto l1 end local a ::l1:: return 1", "if x then ::a:: end goto a", "repeat goto c local x ::c:: until x",
  "while true do break print(1) end", "return 1 print(2)",
} do
  print(loadstring(source, "=s"))
end
print("ok")
