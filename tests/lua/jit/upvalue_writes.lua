-- Hot loops that read and write upvalues: their own, shared ones, ones of dead frames, ones that change type.

-- A counter in an upvalue.
local count = 0
local function bump(n)
  for i = 1, n do count = count + i end
end
bump(1000)
print(count)
local function twice() bump(100) bump(100) return count end
print(twice())

-- Written by the loop, read by a function called in it.
local current = 0
local function read() return current * 2 end
local sum = 0
for i = 1, 500 do
  current = i
  sum = sum + read()
end
print(sum, current)

-- Written by a function called in the loop, read by the loop.
local state = 1
local function change(i) if i % 100 == 0 then state = state + 1 end end
sum = 0
for i = 1, 1000 do
  change(i)
  sum = sum + state
end
print(sum, state)

-- Upvalues of a finished function.
local function make()
  local a, b = 0, 0
  return function(n) for i = 1, n do a = a + i b = b + a % 3 end return a, b end, function() a = a - 1 return a end
end
local run, dec = make()
print(run(300))
print(dec(), run(100))

-- The type of the upvalue changes.
local v = 0
local function step(i)
  if i == 300 then v = v + 0.5 end
  if i == 600 then v = tostring(v) end
  v = v + 1
end
for i = 1, 900 do step(i) end
print(v)
local maybe
local function toggle(i) if i % 64 == 0 then maybe = nil elseif i % 64 == 32 then maybe = i end end
local seen = 0
for i = 1, 1000 do
  toggle(i)
  if maybe then seen = seen + maybe end
end
print(seen, maybe)

-- Three levels deep.
local function level1()
  local x = 0
  local function level2()
    local y = 0
    local function level3(n)
      for i = 1, n do
        x = x + 1
        y = y + x
      end
      return x, y
    end
    return level3
  end
  local f, g = level2(), level2()
  f(100)
  print(g(50))
  print(f(1))
end
level1()

-- An upvalue and a local of the same slot name; loop variables captured while hot.
local saved = {}
for i = 1, 300 do
  local w = i
  if i % 100 == 0 then
    saved[#saved + 1] = function()
      w = w + 1
      return w
    end
  end
  w = w + 1000
end
print(saved[1](), saved[2](), saved[3](), saved[1]())

-- Upvalue written while the enclosing function's loop holds it open.
local function outer(n)
  local acc, trace = 0, {}
  local function add(i) acc = acc + i end
  for i = 1, n do
    add(i)
    if acc > 1000 then
      trace[#trace + 1] = i
      acc = acc - 1000
    end
  end
  return acc, #trace, trace[#trace]
end
print(outer(500))

-- Tables in upvalues replaced during the loop.
local t = { k = 1 }
local function get() return t.k end
sum = 0
for i = 1, 600 do
  if i % 200 == 0 then t = { k = t.k + 10 } end
  sum = sum + get()
end
print(sum)
local f1 = function(x) return x end
local function indirect(x) return f1(x) end
sum = 0
for i = 1, 600 do
  if i == 300 then f1 = function(x) return -x end end
  sum = sum + indirect(i)
end
print(sum)
print("ok")
