-- Minus zero arises, travels and is seen in hot loops just as in the interpreter.

local function sign(v) return 1 / v < 0 and "-" or "+" end

-- By multiplication, negation, division, remainder, rounding; first never, then sometimes.
local seen = {}
local function note(what, v)
  if v == 0 then
    local key = what .. sign(v)
    seen[key] = (seen[key] or 0) + 1
  end
end
for i = -200, 200 do
  note("mul", i * -1)
  note("neg", -i)
  note("zero", i * 0)
  note("div", i / -3)
  note("mod", i % 5)
  note("modneg", i % -5)
  note("sub", i - i)
  note("add", i + -i)
  note("floor", math.floor(i / 1000))
  note("ceil", math.ceil(i / 1000))
  note("abs", math.abs(-i))
  note("half", i * 0.5)
  note("fmod", math.fmod(i, 4))
end
local keys = {}
for k, v in pairs(seen) do keys[#keys + 1] = k .. v end
table.sort(keys)
print(table.concat(keys, " "))

-- An integer accumulator turns into minus zero by multiplication.
local x, minus, plus = 5, 0, 0
for i = 1, 400 do
  x = i % 4 == 0 and 0 or i % 4 == 1 and -3 or i % 4 == 2 and 2 or -1
  local y = x * (i % 8 < 4 and 1 or -1) * (i % 3 == 0 and 0 or 1)
  if y == 0 then if 1 / y < 0 then minus = minus + 1 else plus = plus + 1 end end
end
print(minus, plus)

-- Printing, concatenation, formatting.
local out = {}
for i = -100, 100 do
  local v = i * -0
  if i % 50 == 0 then out[#out + 1] = v .. "" .. tostring(-v) .. string.format("%g", v) end
end
print(table.concat(out, " "))

-- -0 as a key and in comparisons is 0.
local t = { [0] = "zero" }
local hits, equal = 0, 0
for i = 1, 300 do
  local z = (i % 2) * -1 * 0
  if t[z] == "zero" then hits = hits + 1 end
  if z == 0 and not (z < 0) and not (z > 0) and z <= 0 and z >= 0 then equal = equal + 1 end
  t[z] = "zero"
end
local n = 0
for k in pairs(t) do n = n + 1 end
print(hits, equal, n)

-- Sums: -0 + 0 is 0, -0 + -0 is -0; a loop that starts at -0.
local z = -0
local s = z
for i = 1, 200 do s = s + z end
print(sign(s), s)
s = s + 0
print(sign(s), s)
for i = -0, 2 do io.write(sign(i == 0 and i or 1), i, " ") end
for i = 2, -0, -1 do io.write(i, " ") end
print()

-- min and max, sqrt, powers, atan2 keep or drop the sign.
local count = 0
for i = 1, 200 do
  local m = i % 2 == 0 and -0 or 0
  if 1 / math.sqrt(m) < 0 then count = count + 1 end
  if 1 / m ^ 3 < 0 then count = count + 1000 end
  if math.atan2(m, -1) < 0 then count = count + 1000000 end
  if 1 / m ^ 2 < 0 then count = count + 0.5 end
end
print(count)

-- Values that pass through tables, upvalues, calls and varargs.
local box, up = {}, 0
local function pass(...) return (...) end
local neg = 0
for i = 1, 300 do
  local v = (i % 3 - 1) * (i % 2 == 0 and 0 or -0)
  box.v = v
  up = box.v
  local w = pass(up)
  if w == 0 and 1 / w < 0 then neg = neg + 1 end
end
print(neg)
print("ok")
