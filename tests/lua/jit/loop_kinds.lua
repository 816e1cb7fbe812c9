-- while, repeat and goto loops that become hot, with many ways in and out.

-- while with conditions of several parts.
local i, s = 0, 0
while i < 2000 and s < 1e6 do
  i = i + 1
  if i % 3 == 0 then s = s + i end
end
print(i, s)
i, s = 0, 0
while true do
  i = i + 1
  if i > 1500 then break end
  if i % 2 == 0 then s = s + 1 else s = s + 2 end
end
print(i, s)
while not (i <= 0 or s == -1) do i = i - 3 end
print(i)

-- repeat with a condition on locals of the body.
i, s = 0, 0
repeat
  local j = i * 2
  i = i + 1
  local done = j > 1800
  s = s + j % 5
until done
print(i, s)
local outer = 0
repeat
  local inner = 0
  repeat
    inner = inner + 1
    s = s + inner
  until inner >= outer % 6
  outer = outer + 1
until outer == 200
print(outer, s)

-- goto: loops, continue, redo, nested exits.
do
  local n, acc = 0, 0
  ::top::
  n = n + 1
  if n % 5 == 0 then goto top end
  acc = acc + n
  if n < 3000 then goto top end
  print(n, acc)
end
s = 0
for k = 1, 1000 do
  if k % 3 == 0 then goto continue end
  if k % 5 == 0 then
    s = s + 1
    goto continue
  end
  s = s + 10
  ::continue::
end
print(s)
local redo = 0
for k = 1, 500 do
  local tries = 0
  ::again::
  tries = tries + 1
  redo = redo + 1
  if tries < k % 4 then goto again end
end
print(redo)
local found
for a = 1, 50 do
  for b = a, 50 do
    for c = b, 50 do
      if a * a + b * b == c * c and a + b + c == 90 then
        found = a .. "," .. b .. "," .. c
        goto out
      end
    end
  end
end
::out::
print(found)

-- A state machine made of gotos, long enough to be compiled.
local function machine(n)
  local pos, visits = 0, { 0, 0, 0 }
  ::s1::
  visits[1] = visits[1] + 1
  pos = pos + 1
  if pos >= n then goto done end
  if pos % 2 == 0 then goto s2 end
  if pos % 7 == 0 then goto s3 end
  goto s1
  ::s2::
  visits[2] = visits[2] + 1
  pos = pos + 1
  if pos >= n then goto done end
  if pos % 3 == 0 then goto s3 end
  goto s1
  ::s3::
  visits[3] = visits[3] + 1
  pos = pos + 2
  if pos >= n then goto done end
  if pos % 5 == 0 then goto s3 end
  goto s2
  ::done::
  return pos, table.concat(visits, " ")
end
print(machine(10))
print(machine(5000))

-- Loops with upvalues that are closed in each round, by goto and by break.
local fs = {}
do
  local k = 0
  while k < 300 do
    k = k + 1
    local v = k
    local f = function() v = v + 1 return v end
    if k % 100 == 0 then fs[#fs + 1] = f end
    if k == 250 then break end
  end
end
print(#fs, fs[1](), fs[1](), fs[2]())
do
  local k = 0
  ::loop::
  do
    local v = k
    if k % 40 == 0 then fs[#fs + 1] = function() return v end end
    k = k + 1
    if k < 200 then goto loop end
  end
end
print(#fs, fs[3](), fs[7]())

-- The same function with every kind of loop, called until each is hot.
local function all(n)
  local t = 0
  for a = 1, n do t = t + a end
  for a = n, 1, -1 do t = t - a % 3 end
  local a = 0
  while a < n do a = a + 1 t = t + a % 2 end
  repeat a = a - 1 t = t + 1 until a <= 0
  for _, v in ipairs { n, n } do t = t + v end
  for k, v in pairs { [1] = n, x = n } do t = t + v end
  ::again::
  a = a + 1
  if a < n then goto again end
  return t + a
end
s = 0
for n = 0, 150 do s = s + all(n) end
print(s)
print("ok")
