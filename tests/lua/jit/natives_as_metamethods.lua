-- Builtins as metamethods and under protection, in hot loops.
local function run(name, f) print(name, f(120)) end

run("len", function(n)
  local buffer, s = require "string.buffer".new(), 0
  for i = 1, n do buffer:put(i) s = s + #buffer end
  return s
end)
run("tostring", function(n)
  local buffer, s = require "string.buffer".new(), 0
  for i = 1, n do buffer:reset():put(i, "x") s = s + #tostring(buffer) end
  return s
end)
run("tostring in Lua", function(n)
  local o, s = setmetatable({ x = 1 }, { __tostring = function(o) o.x = o.x + 1 return "o" .. o.x end }), 0
  for i = 1, n do s = s + #tostring(o) end
  return s, tostring(o)
end)
run("tostring that changes", function(n)
  local m = { __tostring = function() return "a" end }
  local o, s = setmetatable({}, m), ""
  for i = 1, n do
    s = s .. tostring(o)
    if i == n - 20 then m.__tostring = function() return "b" end end
    if i == n - 10 then
      m.__tostring = nil
      s = s .. #tostring(o):sub(1, 6)
      m.__tostring = type
    end
  end
  return #s, s:sub(-24)
end)
run("index", function(n)
  local base = { x = 3 }
  local o, s = setmetatable({}, { __index = math.max }), 0
  local p = setmetatable({}, { __index = function(t, k) return base[k] end })
  for i = 1, n do
    local ok, e = pcall(function() return o[i] end)
    s = s + (ok and 1 or #e) + p.x
  end
  return s
end)
run("newindex", function(n)
  local t = setmetatable({}, { __newindex = rawset })
  for i = 1, n do t[i] = i * 2 end
  return #t, t[n]
end)
run("call", function(n)
  local o, s = setmetatable({}, { __call = select }), 0
  local p = setmetatable({}, { __call = rawget })
  p.x = 7
  for i = 1, n do
    s = s + p("x")
    local ok, e = pcall(o, i)
    s = s + #e
  end
  return s
end)
run("arithmetic", function(n)
  local m = { __add = string.rep, __unm = type, __concat = rawequal, __eq = rawequal, __lt = rawequal }
  debug.setmetatable("", { __index = string, __add = string.rep, __unm = function(x) return #x end })
  local o, p, s = setmetatable({}, m), setmetatable({}, m), 0
  for i = 1, n do
    s = s + #(-o) + (o .. p and 1 or 2) + (o == p and 1 or 2) + (o < p and 4 or 8)
  end
  debug.setmetatable("", { __index = string })
  return s
end)
run("pcall", function(n)
  local s = 0
  for i = 1, n do
    local ok, x, y = pcall(string.find, "abc" .. i, "%d")
    s = s + (ok and x + y or 0)
    local ok, x = pcall(string.rep, "x", i)
    s = s + #x
  end
  return s
end)
run("pcall with all results", function(n)
  local function count(...) return select("#", ...) end
  local t, s = { 1, 2, 3 }, 0
  for i = 1, n do s = s + count(pcall(unpack, t, 1, i % 3)) + count(pcall(unpack, t)) end
  return s
end)
run("pcall that fails", function(n)
  local s, e = 0
  for i = 1, n do
    local ok, x = pcall(string.rep, i > 100 and {} or "x", 2)
    if ok then s = s + #x else e = x end
    ok, x = pcall(string.rep)
    s = s + #x
  end
  return s, e
end)
run("xpcall", function(n)
  local s, seen = 0, 0
  local function handler(e) seen = seen + 1 return "H" .. e end
  for i = 1, n do
    local ok, x = xpcall(string.format, handler, i % 40 == 0 and "%d" or "%s", "x")
    s = s + #x
  end
  return s, seen
end)
run("iterators", function(n)
  local x, s, list = ("a1 "):rep(n), 0, {}
  for w in x:gmatch "%a%d" do s = s + #w end
  for a, b in x:gmatch "(%a)(%d)" do s = s + #a + b end
  local f = io.tmpfile()
  for i = 1, n do f:write(i, "\n") end
  f:seek "set"
  for line in f:lines() do list[#list + 1] = line end
  return s, #list, list[n]
end)
run("fmod", function(n)
  local s, zeros = 0, 0
  for i = -n, n do
    local r = math.fmod(i, 7)
    s = s + r
    if r == 0 and 1 / r < 0 then zeros = zeros + 1 end
  end
  return s, zeros, math.fmod(5, 0) ~= math.fmod(5, 0)
end)
run("random", function(n)
  math.randomseed(42)
  local s, list = 0, {}
  for i = 1, n do
    s = s + math.random(i) + math.random(-i, i) + math.random(3, 2)
    list[i % 5 + 1] = math.random(0) + math.random(-3) + math.random(2^31 - 1, 2^31 - 1) + math.random(-2^31, -2^31)
    s = s + math.random(2.5)
  end
  return s, table.concat(list, " ")
end)
