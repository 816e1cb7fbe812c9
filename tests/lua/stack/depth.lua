-- How deep functions can call one another, and that the end of the stack is an ordinary error, again and again.
local function depth_of(make)
  local depth = 0
  local f = make(function() depth = depth + 1 end)
  local depths = {}
  for i = 1, 5 do
    depth = 0
    local ok, message = pcall(f, 1)
    assert(not ok and tostring(message):match "stack overflow", message)
    depths[i] = depth
  end
  return depths
end

local kinds = {
  { "not a tail call", function(enter)
    local function f(n) enter() return 1 + f(n + 1) end
    return f
  end },
  { "two functions", function(enter)
    local g
    local function f(n) enter() local r = g(n) return r end
    function g(n) local r = f(n + 1) return r end
    return f
  end },
  { "variable arguments", function(enter)
    local function f(...) enter() return 1 + f(...) end
    return f
  end },
  { "metamethods of indexing", function(enter)
    local t = setmetatable({}, { __index = function(t, k) enter() local r = t[k + 1] return r end })
    return function(n) local r = t[n] return r end
  end },
  { "metamethods of calls", function(enter)
    local t
    t = setmetatable({}, { __call = function(self, n) enter() local r = self(n + 1) return r end })
    return function(n) local r = t(n) return r end
  end },
  { "metamethods of arithmetic", function(enter)
    local t = setmetatable({}, { __add = function(a, b) enter() local r = a + b return r end })
    return function() local r = t + 1 return r end
  end },
  { "metamethods of comparison", function(enter)
    local mt = { __lt = function(a, b) enter() local r = a < b return r end }
    local a, b = setmetatable({}, mt), setmetatable({}, mt)
    return function() local r = a < b return r end
  end },
  { "metamethods of concatenation", function(enter)
    local t = setmetatable({}, { __concat = function(a, b) enter() local r = a .. b return r end })
    return function() local r = t .. "x" return r end
  end },
  { "iterators", function(enter)
    local function f(n) enter() for _ in f, n, n do return 1 end end
    return f
  end },
}
for _, kind in ipairs(kinds) do
  local depths = depth_of(kind[2])
  io.write(kind[1], ":")
  for i = 1, 5 do
    assert(depths[i] > 3000, depths[i])
    assert(math.abs(depths[i] - depths[1]) <= 16, "another depth the next time")
  end
  print(" deep enough")
end

-- What catches errors on the way is left behind as well.
local levels = 0
local function catch(n)
  levels = n
  local ok, e = pcall(catch, n + 1)
  if not ok then error(e, 0) end
  return ok
end
local ok, e = pcall(catch, 1)
print("pcall in pcall:", ok or tostring(e):match "stack overflow" or tostring(e):match "error in error handling", levels > 3000)

-- No error where there is room.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
for _ = 1, 5 do assert(sum(100000) == 5000050000) end
local function even(n) if n == 0 then return true end local r = not even(n - 1) return r end
assert(even(100000) == true and even(99999) == false)
local function spread(n, ...) if n == 0 then return select("#", ...) end return (spread(n - 1, ...)) end
assert(spread(50000, 1, 2, 3) == 3)
local function tail(n, acc) if n == 0 then return acc end return tail(n - 1, acc + 1) end
assert(tail(1000000, 0) == 1000000)
print "100000 deep"
