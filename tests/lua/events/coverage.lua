-- Every loop here becomes one trace that loops, without an abort on the way.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
jit.off(true)

local aborts, stops = {}, {}
jit.attach(function(what, number, func, _, code, info)
  if what == "abort" then
    if vmdef.traceerr[code]:find "NYI: bytecode" then info = vmdef.bcnames:sub(info * 6 + 1, info * 6 + 6) end
    aborts[#aborts + 1] = tostring(vmdef.traceerr[code]) .. " " .. tostring(info)
  elseif what == "stop" then
    stops[#stops + 1] = { func = func, link = util.traceinfo(number).linktype }
  end
end, "trace")

-- Runs the loop of `f`, which is compiled; the expected result is that of the interpreter.
local function check(name, f, ...)
  jit.off(f, true)
  local expected = f(300, ...)
  jit.on(f, true)
  jit.flush()
  aborts, stops = {}, {}
  local got = f(300, ...)
  assert(got == expected, name .. ": " .. tostring(got) .. ", not " .. tostring(expected))
  assert(#aborts == 0, name .. ": " .. table.concat(aborts, ", "))
  for _, stop in ipairs(stops) do
    if stop.func == f and stop.link == "loop" then return end
  end
  error(name .. ": no trace that loops")
end

check("FNEW", function(n)
  local s = 0
  for i = 1, n do local f = function(x) return x + n end s = s + f(i) end
  return s
end)
check("FNEW, UCLO", function(n)
  local s = 0
  for i = 1, n do
    local x = i
    local f = function() x = x + 1 return x end
    s = s + f() + x
  end
  return s
end)
check("UCLO before a return", function(n)
  local function counter(from) return function() from = from + 1 return from end end
  local s = 0
  for i = 1, n do local c = counter(i) c() s = s + c() end
  return s
end)
check("UCLO with nothing to close", function(n)
  local function maybe(x)
    local y = x * 2
    if x < 0 then return function() return y end end
    return y
  end
  local s = 0
  for i = 1, n do s = s + maybe(i) end
  return s
end)
check("pcall", function(n)
  local function f(x) return x + 1, x end
  local s = 0
  for i = 1, n do
    local ok, a, b = pcall(f, i)
    if ok then s = s + a * b end
  end
  return s
end)
check("xpcall in tail position", function(n)
  local function f(x) return x + 1 end
  local function g(...) return xpcall(f, print, ...) end
  local s = 0
  for i = 1, n do
    local ok, a = g(i)
    if ok then s = s + a end
  end
  return s
end)
check("pcall of a builtin", function(n)
  local s = 0
  for i = 1, n do
    local ok, a = pcall(math.abs, -i)
    if ok then s = s + a end
  end
  return s
end)
check("CAT with metamethods", function(n)
  local o = setmetatable({}, { __concat = function(a, b)
    return (type(a) == "table" and "o" or a) .. "-" .. (type(b) == "table" and "o" or b)
  end })
  local s = 0
  for i = 1, n do s = s + #("x" .. i .. o .. "y" .. o .. i) end
  return s
end)
check("TSETM", function(n)
  local function f(x) return x, x + 1 end
  local s = 0
  for i = 1, n do
    local t = { i, f(i) }
    s = s + t[1] * t[3] + #t
  end
  return s
end)
check("VARG in the function of the loop", function(n, ...)
  local s = 0
  for i = 1, n do
    local a, b, c = ...
    s = s + a * i + b + select("#", ...) + #{ ... }
    if c then s = s + 0.5 end
  end
  return s
end, 3, 2.5)
check("a call of what is no function", function(n)
  local o = setmetatable({}, { __call = function(self, x, y) return x and x + (y or 1) end })
  local function tail(x) return o(x) end
  local s = 0
  for i = 1, n do s = s + o(i) + tail(i) end
  return s
end)
check("ITERC on what is no function", function(n)
  local o = setmetatable({}, { __call = function(self, n, i) i = i + 1 if i <= n then return i, i * 2 end end })
  local s = 0
  for i, x in o, n, 0 do s = s + x end
  return s
end)
check("ITERN", function(n)
  local t, s = {}, 0
  for i = 1, n do t[i] = i end
  for k, v in pairs(t) do s = s + k * v end
  return s
end)
check("a nil key", function(n)
  local t, s, key = setmetatable({}, { __index = function(_, key) return key == nil and 2 or 3 end }), 0, nil
  for i = 1, n do s = s + t[key] end
  return s
end)
print "ok"
