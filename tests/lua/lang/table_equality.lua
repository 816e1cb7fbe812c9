-- Equality of tables: the same one, tables without metatables, with metatables that get and lose `__eq`.
local a, b = {}, {}
print(a == a, a == b, a ~= b, rawequal(a, b), a == 1, a == "x", a ~= nil)
local meta = {}
setmetatable(a, meta)
print(a == b, b == a, a ~= b)
setmetatable(b, meta)
for i = 1, 3 do print(a == b, a ~= b) end
meta.__eq = function(x, y) return x ~= nil and rawequal(x, a) == rawequal(y, b) end
for i = 1, 3 do print(a == b, b == a, a ~= b) end
meta.__eq = nil
print(a == b, a ~= b)
setmetatable(b, { __eq = function() return true end })
print(a == b, b == a)
meta.__eq = getmetatable(b).__eq
print(a == b, b == a, a ~= b)
setmetatable(a, nil)
print(a == b, b == a, a ~= b)
