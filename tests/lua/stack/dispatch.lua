-- Millions of instructions of every kind that calls something or goes on elsewhere. A handler that leaves something on the native stack
-- for each of them has no room left in the end.
local N = tonumber((...) or 1000000)

local function case(name, f)
  io.write(name, ": ", tostring(f(N)), "\n")
end

case("calls", function(n)
  local function f(x) return x + 1 end
  local x = 0
  for _ = 1, n do x = f(x) end
  return x
end)
case("tail calls", function(n)
  local f, g
  function f(k, x) if k == 0 then return x end return g(k - 1, x + 1) end
  function g(k, x) if k == 0 then return x end return f(k - 1, x + 2) end
  return f(n, 0)
end)
case("tail calls of builtins", function(n)
  local function f(x) return math.max(x, 1) end
  local function g(...) return select("#", ...) end
  local x = 0
  for _ = 1, n do x = x + f(x) % 2 + g(1, 2) end
  return x
end)
case("recursion", function(n)
  local function f(k) if k < 2 then return k end return f(k - 1) + f(k - 2) end
  local x = 0
  for _ = 1, n / 20000 do x = x + f(20) end
  return x
end)
case("methods", function(n)
  local class = { x = 0 }
  class.__index = class
  function class:add(k) self.x = self.x + k return self end
  local o = setmetatable({}, class)
  for _ = 1, n do o:add(1):add(2) end
  return o.x
end)
case("metamethods of arithmetic", function(n)
  local mt = {}
  local function new(v) return setmetatable({ v = v }, mt) end
  local function v(x) return type(x) == "table" and x.v or x end
  function mt.__add(a, b) return new(v(a) + v(b)) end
  function mt.__sub(a, b) return new(v(a) - v(b)) end
  function mt.__mul(a, b) return new(v(a) * v(b) % 1000) end
  function mt.__div(a, b) return new(v(a) / v(b)) end
  function mt.__mod(a, b) return new(v(a) % v(b)) end
  function mt.__pow(a, b) return new(v(a) ^ v(b) % 1000) end
  function mt.__unm(a) return new(-v(a)) end
  local x, two = new(1), new(2)
  for _ = 1, n / 8 do x = -(((x + two) * 3 - 1) / two % 50 ^ two) end
  return x.v
end)
case("metamethods of comparison and length", function(n)
  local mt = { __eq = function() return true end, __lt = function(a, b) return a.v < b.v end,
    __le = function(a, b) return a.v <= b.v end, __concat = function(a) return a end, __call = function(_, x) return x end }
  local a, b = setmetatable({ v = 1 }, mt), setmetatable({ v = 2 }, mt)
  local x = 0
  for i = 1, n / 4 do
    if a == b and a < b and a <= b and not (a > b) then x = x + a(i % 3) end
    local c = a .. "x"
  end
  return x
end)
case("metamethods of indexing", function(n)
  local store = {}
  local t = setmetatable({}, { __index = function(_, k) return store[k] or 0 end, __newindex = function(_, k, v) store[k] = v end })
  for i = 1, n / 2 do t[i % 10] = t[i % 10] + 1 end
  local chain = { x = 5 }
  for _ = 1, 10 do chain = setmetatable({}, { __index = chain }) end
  local x = 0
  for _ = 1, n / 4 do x = x + chain.x end
  return store[3] + x
end)
case("pcall", function(n)
  local function f(x) if x % 4 == 0 then error(x) end return x end
  local x = 0
  for i = 1, n / 4 do
    local ok, v = pcall(f, i)
    x = x + (ok and v % 3 or 1)
  end
  for i = 1, n / 4 do
    local ok, v = xpcall(function() local t = nil return t.x end, function() return i end)
    x = x + v % 2
  end
  return x
end)
case("coroutines", function(n)
  local co = coroutine.wrap(function()
    local i = 0
    while true do
      i = i + 1
      coroutine.yield(i)
    end
  end)
  local x = 0
  for _ = 1, n / 2 do x = x + co() % 3 end
  for i = 1, n / 20 do
    local other = coroutine.create(function(a) local b = coroutine.yield(a) return b end)
    local _, a = coroutine.resume(other, i)
    local _, b = coroutine.resume(other, 2)
    x = x + a % 2 + b
  end
  return x
end)
case("generic for", function(n)
  local t, x = { 1, 2, 3, a = 4, b = 5 }, 0
  for _ = 1, n / 10 do
    for _, v in pairs(t) do x = x + v end
    for _, v in ipairs(t) do x = x + v end
  end
  local function iterator(limit, i) if i < limit then return i + 1 end end
  for i in iterator, n, 0 do x = x + i % 2 end
  for w in ("a b c "):rep(n / 10):gmatch "%a" do x = x + #w end
  return x
end)
case("varargs", function(n)
  local function count(...) return select("#", ...) end
  local function pass(...) return ... end
  local function first(...) local a = ... return a end
  local function pack(...) return { ... } end
  local x = 0
  for i = 1, n / 4 do
    x = x + count(pass(i, nil, i)) + first(pass(2, i)) + #pack(pass(1, 2, 3)) + (select(2, pass(i, 4)))
    x = x + count(unpack({ 1, 2, 3 }))
  end
  return x
end)
case("strings", function(n)
  local x = 0
  for i = 1, n / 10 do
    local s = "n" .. i .. "." .. i % 7
    x = x + #s + (s:byte(2)) + #s:sub(2, 3) + (tonumber(s:sub(2)) or 0) % 2
    x = x + #s:rep(2) + (s:find(".", 1, true) or 0) + #s:upper() + #tostring(i) + #string.format("%d|%s", i, s)
  end
  for i = 1, n / 40 do x = x + select(2, ("a,b,c"):gsub("%a", function(c) return c .. c end)) end
  return x
end)
case("conversions", function(n)
  local x = 0
  for i = 1, n do x = x + ("10" + i) % 3 - "1" * 1 + 2 ^ 0.5 % 1 end
  return string.format("%.4f", x)
end)
case("callbacks", function(n)
  local x = 0
  for i = 1, n / 50 do
    local t = { 3, 1, 2, i % 5 }
    table.sort(t, function(a, b) x = x + 1 return a < b end)
    table.foreach(t, function(_, v) x = x + v end)
  end
  local mt = { __tostring = function() x = x + 1 return "t" end }
  for _ = 1, n / 20 do tostring(setmetatable({}, mt)) end
  return x
end)
case("closures", function(n)
  local x = 0
  for i = 1, n / 2 do
    local function f() x = x + i % 2 return x end
    f()
  end
  return x
end)
case("loaded functions", function(n)
  local x = 0
  for i = 1, n / 500 do x = x + loadstring("local a = ... return a + " .. i % 10)(1) end
  return x
end)
case("jumps", function(n)
  local x, i = 0, 0
  ::again::
  i = i + 1
  if i % 2 == 0 then x = x + 1 elseif i % 3 == 0 then x = x + 2 else x = x - 1 end
  if i < n then goto again end
  repeat x = x - 1 until x < 0
  while x < n do x = x + 3 end
  return x
end)
