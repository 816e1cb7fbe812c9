//! Lua programs whose bytecode is edited: short, and together with most instructions.

/// The programs.
pub const PROGRAMS: &[&str] = &[
    include_str!("../../lua/chunks/seeds/loops.lua"),
    include_str!("../../lua/chunks/seeds/functions.lua"),
    include_str!("../../lua/chunks/seeds/objects.lua"),
    "local a, b = ... local t = { 1, 2, x = 'y', [a] = b } t[1], t.x = t.x, t[1] return #t, t.x, -a, not b, a .. 'z'",
    "local s = 0 for i = 1, 30 do if i % 3 == 0 then s = s + i elseif i > 20 then s = s - 1 else s = s * 2 end end return s",
    "local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end return f(8)",
    "local fs = {} for i = 1, 5 do local k = i fs[i] = function(d) k = k + d return k, i end end return fs[2](3), fs[4](1)",
    "local function v(...) local a, b = ... return select('#', ...), b, ... end return v(1, nil, 3), (v(2))",
    "local co = coroutine.wrap(function(a) for i = 1, 4 do a = a + coroutine.yield(a, i) end return 'end' end)\n\
     local s = co(1) for i = 1, 3 do s = s + co(i) end return s, co(9)",
    "local t = setmetatable({}, { __index = function(t, k) return k * 2 end, __call = function(self, x) return x end,\n\
     __eq = function() return true end, __len = function() return 7 end }) local s = 0 for i = 1, 9 do s = s + t[i] + t(i) end return s",
    "local n = 0 for k, v in pairs { 1, 2, 3, a = 4 } do n = n + v end for i, v in ipairs { 5, 6 } do n = n + i * v end return n",
    "local ok, e = pcall(function() local x = nil return x.y end) local ok2, e2 = pcall(error, { 1 }) return ok, e2[1], type(e)",
    "local i = 0 ::top:: i = i + 1 if i < 12 then goto top end repeat local j = i i = i - 1 until j < 4 return i",
    "local bit = bit local x = 0 for i = 1, 20 do x = bit.bxor(bit.lshift(x, 1), i) end return x, 7 & 3, 1 << 4, ~5",
    "local t = {} for i = 1, 20 do t[#t + 1] = ('%d'):format(i) end table.sort(t) return table.concat(t, ','), t[3]:upper():byte(1)",
];
