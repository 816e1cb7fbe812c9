-- Compound assignment.

local x = 7
x += 2 print(x)
x -= 4 print(x)
x *= 6 print(x)
x /= 4 print(x)
x %= 4 print(x)
x ..= "a" print(x)
x ..= 1 .. 2 print(x)
x = 0xf0
x &= 0x3c print(x)
x |= 1 print(x)
x ~= 0xff print(x)
x <<= 4 print(x)
x >>= 2 print(x)
x = -64
x ~>>= 3 print(x)
x += 1 + 2 * 3 x *= 2 + 1 print(x)

-- Globals, upvalues, fields; the table and the key are evaluated once.
g = 1
g += 1
local function up() x += 100 g *= 10 return x end
print(up(), g)
local log = {}
local function note(v) log[#log + 1] = tostring(v) return v end
local t = { n = 1, [2] = "two", s = "s" }
local function obj() note "obj" return t end
obj().n += note(5)
obj()[note(2)] ..= note "!"
obj()[note "s"] ..= obj().n .. note "?"
obj()[1.5] = 1
t[1.5] *= 8
t[300] = 1
t[300] -= 3
print(t.n, t[2], t.s, t[1.5], t[300], table.concat(log, " "))
t.t = t
t.t.t.n += t.n
print(t.n)
local key = "n"
t[key] += 1 key ..= "ew" t[key] = 1 t[key] += t[key]
print(t.n, t.new)
local mt = setmetatable({}, { __index = function(_, k) note("get " .. k) return 1 end, __newindex = function(_, k, v) note("set " .. k .. v) end })
log = {}
mt.a += 1
print(table.concat(log, " "))
local add = setmetatable({}, { __add = function(_, v) return v * 2 end, __concat = function(_, v) return "c" .. v end })
local m = add
m += 4
add ..= "x"
print(m, add)
local a, b = 1, 2
a += (function() a = 50 return 1 end)() b -= a
print(a, b)

-- What it is not.
for _, source in ipairs {
  "x ^= 2", "x ??= 2", "x //= 2", "x && = 2", "x &&= 2", "x ||= 2", "x + = 2", "x, y += 1", "x != 1", "x == 1", "x ~ = 1", "f() += 1", "(x) += 1", "x +=", "return x += 1",
  "local x += 1", "x += 1, 2", "x += y += 1", "x <= 1", "x >= 1", "x and= 1", "x.. = 1", "1 += 1", "x:m() += 1", "x < <= 1",
} do
  print(source, select(2, loadstring(source, "=s")) or "compiles")
end
for _, source in ipairs { "local x x += 1", "local x = {} x.y.z += 1", "local x = {} x.y ..= 1", "local x = 's' x |= 1", "y -= 1" } do
  print(source, select(2, pcall(loadstring(source, "=s"))))
end

-- In loops.
local sum, bits, text = 0, 1, ""
local c = { n = 0 }
for i = 1, 300 do
  sum += i
  c.n += i % 2
  c[i % 10] = (c[i % 10] or 0)
  c[i % 10] += i
  bits <<= 1
  bits |= i & 1
  bits ~= i
  if i % 100 == 0 then text ..= i text ..= "," end
end
print(sum, c.n, c[3], bits, text)
