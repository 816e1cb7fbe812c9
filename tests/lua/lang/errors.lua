-- error, assert, pcall, xpcall: values of all kinds, levels, nesting, handlers.

-- Any value is an error.
for _, v in ipairs { "text", 42, true, false, { 1 }, print } do
  local ok, e = pcall(error, v)
  print(ok, type(e), e == v)
end
print(pcall(error))
print(pcall(error, nil))
local obj = setmetatable({ code = 7 }, { __tostring = function(o) return "E" .. o.code end })
local ok, e = pcall(function() error(obj) end)
print(ok, rawequal(e, obj), tostring(e), e.code)

-- Levels add the position of a caller.
local function f0() error("zero", 0) end
local function f1() error("one", 1) end
local function f2() error("two", 2) end
local function caller() f2() return 1 end
local function f3() error("three", 3) end
local function mid() f3() return 1 end
local function top() mid() return 1 end
print(pcall(f0))
print(pcall(f1))
print(pcall(f2))
print(pcall(caller))
print(pcall(top))
print(pcall(function() error("far", 50) end))
print(pcall(function() error(12) end))
print(pcall(function() error(12.5, 2) end))
print(pcall(function() error({}, 2) end) == false)

-- assert passes all its arguments or raises its message as it is.
print(assert(1, "unused", 3), select("#", assert(true, nil, nil)))
print(pcall(assert, false))
print(pcall(assert, nil, "message"))
print(pcall(assert, false, 42))
local tok, terr = pcall(assert, false, obj)
print(tok, terr == obj)
print(pcall(assert))
print(pcall(assert, nil, nil))
print(pcall(function() assert(1 == 2, "at " .. 5) end))

-- pcall returns everything, nests, and is a first-class function.
print(pcall(function(...) return select("#", ...), ... end, nil, 2, nil))
print(pcall(pcall, error, "inner"))
print(pcall(pcall, pcall, error, "x"))
print(pcall(pcall))
print(pcall(function() pcall() end))
print(pcall(nil))
print(pcall(5))
print(pcall(pcall, nil))
print(select("#", pcall(function() end)))
local function nest(n)
  if n == 0 then error("bottom", 0) end
  local ok, e = pcall(nest, n - 1)
  error(e .. n, 0)
end
print(pcall(nest, 9))

-- Locals, upvalues and tables keep what was done before the error.
local count, list = 0, {}
local done = pcall(function()
  for i = 1, 10 do
    count = count + 1
    list[i] = i
    if i == 4 then local x = nil; x = x.field end
  end
end)
print(done, count, #list)

-- xpcall: the handler sees the error, its results are returned, the arguments go to the function.
print(xpcall(function(...) return "fine", ... end, print, 1, nil, 3))
print(xpcall(function() error("bad", 0) end, function(m) return m:upper(), "second" end))
print(xpcall(function() error("bad") end, function(m) return m end))
print(xpcall(function() error() end, function(m) return type(m) end))
print(xpcall(error, function(m) return "h:" .. tostring(m) end, "direct"))
print(xpcall(function() local t = nil; return t.x end, function(m) return "caught " .. m end))
print(xpcall(nil, function(m) return "handler: " .. m end))
print(xpcall(function() error("x", 0) end, function() error("again", 0) end))
print(xpcall(function() error("x", 0) end, function() local t = nil; return t.x end))
print(pcall(xpcall, print))
print(pcall(xpcall))
print(xpcall(function() return xpcall(error, function(m) return "inner " .. m end, "e") end, function() return "outer" end))
print(xpcall(function()
  local r = { xpcall(error, function(m) return m .. "+" end, "e") }
  error(r[2], 0)
end, function(m) return m .. "-" end))

-- The handler runs before unwinding: it sees the frames of the error.
local function deep(n) if n == 0 then error("deep", 0) end deep(n - 1) return n end
print(xpcall(deep, function(m)
  local levels = 0
  while debug.getinfo(levels, "l") do levels = levels + 1 end
  return m .. (levels > 5 and " with frames" or " without frames")
end, 5))

-- Whether a handler runs is known of each coroutine: one that runs inside of a handler has handlers of its own, and its errors do not end
-- the state of the outer one.
local calls = 0
print(xpcall(error, function()
  calls = calls + 1
  if calls > 20 then return "many" end
  print(coroutine.resume(coroutine.create(error), "caught"))
  print(coroutine.wrap(function()
    return xpcall(error, function(m) return m .. " handled" end, "inner")
  end)())
  error("again", 0)
end, "outer"))
print(calls)

-- Errors through iterators, metamethods, sort, gsub, tostring and load.
print(pcall(function() for _ in function() error("iter", 0) end do end end))
print(pcall(function() return setmetatable({}, { __index = function() error("index", 0) end }).x end))
print(pcall(table.sort, { 3, 2, 1 }, function() error("compare", 0) end))
print(pcall(string.gsub, "abc", "b", function() error("replace", 0) end))
print(pcall(load, function() error("reader", 0) end))
print(pcall(loadstring("error('chunk', 1)", "=chunk")))
print(pcall(loadstring("local x = 5\n\nlocal y = x.z.w", "@file.lua")))
print(pcall(loadstring("return 1 + nil", "some code")))
print(pcall(loadstring("error('m')", "=" .. ("n"):rep(100))))
print(pcall(loadstring("error('m')", "@" .. ("n"):rep(100))))
print(pcall(loadstring("error('m')", ("line\n"):rep(3))))

-- Rethrowing keeps the object; errors in a coroutine stay in it.
local thrown = { tag = "t" }
local _, again = pcall(function()
  local _, e1 = pcall(error, thrown)
  e1.seen = true
  error(e1)
end)
print(again == thrown, again.seen)
local co = coroutine.create(function() error(thrown) end)
print(select(2, coroutine.resume(co)) == thrown, coroutine.status(co))

-- Many errors in a row leave nothing behind.
local caught = 0
for i = 1, 5000 do
  local ok1, e1 = pcall(error, i)
  if not ok1 and e1 == i then caught = caught + 1 end
  local ok2 = pcall(function() return #i end)
  if not ok2 then caught = caught + 1 end
end
print(caught)
print("ok")
