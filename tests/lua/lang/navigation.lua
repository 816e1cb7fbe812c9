-- Safe navigation.

local t = { a = { b = { c = 1 } }, f = function(...) return "f", ... end, m = function(self, ...) return self.name, ... end, name = "t" }
local none
print(t?.a?.b?.c, t?.x, t?.x?.y, none?.x, (nil)?.x, t?.["a"]?.["b"]?.["c"], none?.[error()])
print(t.f?.(1, 2), t.g?.(1, 2), none?.(error()), t?.f(1), none?.f, t.f?."s", t.f?.{} ~= nil)
print(t?.:m(1), none?.:m(error()), t:m?.(2), t:x?.(error()), t?.:m?.(3), none?.:x?.(error()))
print(false == pcall(function() return (false)?.x end), pcall(function() return none?.a.b end))
print(pcall(function() local o = {} return o.p.q?.r end))
print(pcall(function() return none?.f() end))
print(pcall(function() return t?.name?.x?.y end))

-- All results of a call, or one nil for each that is wanted.
local a, b, c = t.f?.(1)
print(a, b, c)
a, b, c = 1, 2, 3
local d, e, g = t.g?.(1)
print(d, e, g)
local h, i, j = 0, t:x?.(1)
print(h, i, j)
local k, l = t:m?.(5), 6
print(k, l, select("#", t.f?.(1, 2)), select("#", t.g?.(1, 2)), #{ t.f?.(1, 2) })
local function tail() return t.f?.(1, 2) end
print(tail())
for v in none?.x ?? string.gmatch("x y", "%a") do io.write(v, " ") end
print()

-- Statements: all of it is skipped.
local log = {}
local function note(x) log[#log + 1] = tostring(x) return x end
none?.x = note(1)
none?.x.y = note(2)
none?.[note(3)] = note(4)
none?.f(note(5))
none?.:m(note(6))
t:x?.(note(7))
t.g?.(note(8))
none?.x += note(9)
none?.x ..= note(10)
t?.v = note(11)
t?.v += note(12)
t.a?.b.c = note(13)
t?.a?.z = note(14)
t.f?.(note(15))
print(table.concat(log, " "), t.v, t.a.b.c, t.a.z)
for _, source in ipairs {
  "t?.x, y = 1, 2", "y, t?.x = 1, 2", "t?.x", "t?.", "t?.1", "t?. x = 1", "return t ?. x", "return t? .x : y", "return t?.5:1", "return t?.(1", "return t?.:m",
  "t?.x.y, z = 1", "local t?.x = 1", "function t?.x() end", "return t?.'s'", "t?.() = 1", "t?.:m() = 1",
} do
  print(source, select(2, loadstring(source, "=s")) or "compiles")
end

-- In loops.
local sum, objects = 0, { { v = { n = 1 } }, {}, { v = {} } }
for n = 1, 300 do
  local o = objects[n % 4]
  sum += o?.v?.n ?? 10
  o?.count = (o?.count ?? 0) + 1
  o?.v?.seen = n
end
print(sum, objects[1].count, objects[2].count, objects[3].v.seen)

-- A key after what was skipped is not evaluated, and what is made is bytecode that can be read.
print(pcall(function() return none?.x[error()] end))
for _, source in ipairs { "local n return n?.x[f()]", "local n, k return n?.x[k]", "local n return 1, n?.x[{}].y", "local n print(n?.x[n.y])" } do
  print(source, load(string.dump(loadstring(source))) ~= nil)
end
