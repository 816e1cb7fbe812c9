-- The depth of a builtin is one more than that of its caller.
local depths = {}
jit.attach(function(_, func, pc, depth) depths[#depths + 1] = pc == -1 and depth or nil end, "record")
local function leaf(x) return math.abs(x) + 1 end
local sum = 0
for i = 1, 100 do sum = sum + leaf(-i) end
assert(#depths >= 1 and depths[#depths] == 2, "depth " .. depths[#depths])
print "ok"
