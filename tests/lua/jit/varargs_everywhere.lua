local function sum(...) local s = 0 for i = 1, select('#', ...) do s = s + (select(i, ...)) end return s end
local t = {}
for i = 1, 200 do t[i] = i end
print(sum(unpack(t)), sum(), sum(1.5, 2), sum(unpack(t, 1, 150)))
local function pack2(...) return { n = select('#', ...), ... } end
local acc = 0
for i = 1, 300 do local p = pack2(i, i + 1, nil, i); acc = acc + p.n + p[1] + p[2] + p[4] end
print(acc)
local function loopva(...)
  local a = 0
  for i = 1, 300 do local x, y, z = ...; a = a + x + (y or 0) + (z or 100); local q = { ... }; a = a + #q; local w = { i, ... }; a = a + #w end
  return a
end
print(loopva(1), loopva(1, 2.5), loopva(1, 2, 3), loopva(1, nil, 4), loopva("7", 8))
local function fwd(...) return select('#', ...), ... end
for i = 1, 300 do local n, a, b, c = fwd(i, i); acc = acc + n + a + b + (c or 0) end
print(acc)
local function mid(...) local r = 0 for i = 1, 100 do r = r + sum(i, ...) + fwd(...) end return r, ... end
print(mid(1, 2, 3)) print(mid()) print((mid(4)))
local function many() return 1, 2, 3, 4 end
for i = 1, 300 do local x = { many() }; local y = { i, many() }; acc = acc + #x + #y + y[1] + y[5] end
print(acc)
local C = setmetatable({}, { __call = function(self, s, c) c = (c or 0) + 1 if c <= 3 then return c, s end end })
for i = 1, 100 do for k, v in C, i do acc = acc + k * v end end
print(acc)
local function tailobj(o, x) return o(x) end
for i = 1, 200 do acc = acc + tailobj(C, i) end
print(acc)
local function vtail(...) if select('#', ...) > 5 then return sum(...) end return vtail(1, ...) end
for i = 1, 200 do acc = acc + vtail(i) end
print(acc)
local nilkey = 0
local nk = setmetatable({}, { __index = function(t, k) return k == nil and 5 or 6 end })
local key for i = 1, 200 do nilkey = nilkey + nk[key] + (t[key] == nil and 1 or 0) end
print(nilkey)
-- next with despecialised loops
local function each(iter, t, k) local n = 0 for a, b in iter, t, k do n = n + b end return n end
local src = { 1, 2, 3, x = 4, y = 5 }
for i = 1, 200 do acc = acc + each(next, src, nil) end
print(acc)
local function wrap(t) return function(_, k) return next(t, k) end end
local inner
local function walk(t, depth)
  local n = 0
  for k, v in pairs(t) do
    n = n + v
    if depth > 0 and k == 3 then n = n + inner(t, depth - 1) end
  end
  return n
end
inner = walk
for i = 1, 100 do acc = acc + walk(src, 2) end
print(acc)
