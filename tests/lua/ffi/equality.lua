-- `==` of cdata, in loops that are compiled: by metamethods, by identity, by value.
local ffi = require "ffi"
local calls, yes = 0, 0
local new = ffi.metatype("struct { int x; }", {
  __eq = function(a, b)
    calls = calls + 1
    return type(a) == "cdata" and type(b) == "cdata" and a.x == b.x and a.x ~= 5
  end,
})
local a, b = new(1), new(1)
for i = 1, 200 do
  a.x, b.x = i % 7, i % 3
  if a == b then yes = yes + 1 end
  if a ~= b then yes = yes + 100 end
  -- A value is not even equal to itself where the metamethod says so.
  if a == a then yes = yes + 10000 end
  if a ~= nil then yes = yes + 1000000 end
end
print(calls, yes, rawequal(a, a))

-- References are equal if they are to the same place.
local list, same, others = ffi.new("struct { int x; }[2]"), 0, 0
for i = 1, 200 do
  local p, q = list[0], list[i % 2]
  if p == q then same = same + 1 end
  if p ~= q then others = others + 1 end
  if p == p then same = same + 1000 end
end
print(same, others)

-- Structs are equal to themselves only, whatever is in them, and to no other value.
local s, t, n = ffi.new("struct { double d; }", 1), ffi.new("struct { double d; }", 1), 0
for i = 1, 200 do
  local u = i % 2 == 0 and s or t
  if u == s then n = n + 1 end
  if u == 1 or u == "s" or u == true or u == nil or u == list then n = n + 1000 end
end
print(n)

-- Numbers and pointers.
local p, numbers = ffi.cast("int *", list), 0
for i = 1, 200 do
  local k = i + 0LL
  if k == k and k == i and k ~= 100ULL then numbers = numbers + 1 end
  if p + i % 2 == p then numbers = numbers + 1000 end
end
print(numbers)
