-- The ternary, nil-coalescing, and the other spellings of the logical operators.

local t, f, n = true, false, nil
print(t ? 1 : 2, f ? 1 : 2, n ? 1 : 2, 0 ? "yes" : "no")
print(f ? 1 : f ? 2 : 3, t ? f ? 1 : 2 : 3, 1 < 2 ? "a" .. "b" : "c", 1 + 1 == 2 ? 3 + 4 : 5)
print((t ? 1 : 2) + 1, t ? nil : 1, f ? 1 : nil, t ? f : 1)
local a, b = t ? 1 : 2, 5
print(a, b, ({ t ? 1 : 2, x = f ? 1 : 2 })[1] ?? "none")
if t ? f : t then print "then" elseif f ? f : t then print "elseif" end
while n ? t : f do print "never" end
local log = {}
local function note(x) log[#log + 1] = tostring(x) return x end
print(note(t) ? note(1) : note(2), note(f) ? note(3) : note(4), table.concat(log, " "))
local function many(...) return ... end
print((t ? many(1, 2) : 3), select("#", t ? many(1, 2) : 3), select("#", f ? 1 : many(1, 2)))

-- A method call in the middle needs parentheses: the colon is the ternary's.
local s = { v = 7, get = function(self) return self.v end }
print(t ? (s:get()) : 1, f ? 1 : s:get())
local get = 9
print(t ? s.v : get, t ? s?.v : get)
print(loadstring "return x ? s:get() : 1")
print(loadstring "return x ? y")
print(loadstring "return x ? : y")
print(loadstring "return x ? s?.:get() : 1")

-- Nil-coalescing: only for nil.
print(n ?? 1, f ?? 1, 0 ?? 1, n ?? n ?? 2, n ?? f ?? 2)
print(n ?? 1 + 1, (n ?? 1) + 1, n ?? "a" .. "b", n or n ?? 3, f or n ?? 4, n ?? n and 5, 1 and n ?? 6)
log = {}
print(note(n) ?? note(1), note(2) ?? note(3), table.concat(log, " "))
print(select("#", many() ?? many(1, 2)), s.none ?? s.v ?? 0)
local x = n ?? s.v
x = x ?? 1
print(x)

-- && || ! !=
print(t && 1, f && 1, n || 2, 1 || 2, !t, !n, !!1, !1 == nil, 1 != 2, 1 != 1, !(1 != 1))
print(t and 1 && 2 or 3 || 4, not !t, !s.none, -1 != 1 && "ne")
print(loadstring "return 1 ! 2")
print(loadstring "return a &&")
print(loadstring "x = || 2")

-- In loops.
local sum = 0
for i = 1, 300 do
  local v = i % 3 == 0 ? nil : i % 3 == 1 ? i : -i
  sum = sum + (v ?? 100)
  if i != 7 && !(i % 50 == 0) || v == nil then sum = sum + 1 end
end
print(sum)
