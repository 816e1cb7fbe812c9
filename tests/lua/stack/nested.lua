-- What runs in the host calls Lua, which calls the host, and so on: that ends in an error, not with the native stack.
io.stdout:setvbuf "no"
local function endless(name, make)
  local depth = 0
  local f = make(function() depth = depth + 1 end)
  local messages = {}
  for i = 1, 3 do
    depth = 0
    local ok, message = pcall(f, 1)
    messages[i] = ok and "no error" or tostring(message):match "stack overflow" or tostring(message):match "too many.*"
      or tostring(message):match "error in error handling" or tostring(message)
  end
  local few = depth < 3 and " after " .. depth or ""
  print(name .. ": " .. messages[1] .. (messages[1] == messages[3] and "" or ", then " .. messages[3]) .. few)
end

endless("gsub", function(enter)
  local function f() enter() return (("x"):gsub("x", f)) end
  return f
end)
endless("gsub with __index", function(enter)
  local t
  t = setmetatable({}, { __index = function() enter() return (("x"):gsub("x", t)) end })
  return function() return t.x end
end)
endless("sort", function(enter)
  local function f() enter() table.sort({ 1, 2, 3 }, f) return false end
  return f
end)
endless("tostring", function(enter)
  local t
  t = setmetatable({}, { __tostring = function() enter() return (tostring(t)) end })
  return function() return tostring(t) end
end)
endless("require", function(enter)
  local n = 0
  local function f()
    enter()
    n = n + 1
    package.preload["nested" .. n] = f
    return require("nested" .. n)
  end
  return f
end)
endless("error handlers", function(enter)
  local function f() enter() error("again", 0) end
  return function()
    local ok, e = xpcall(f, f)
    error(e, 0)
  end
end)
-- Coroutines do not nest on the native stack.
local function inside(n)
  if n == 0 then return 0 end
  local ok, deeper = coroutine.resume(coroutine.create(inside), n - 1)
  return deeper + 1
end
local function wrapped(n) return n == 0 and 0 or coroutine.wrap(wrapped)(n - 1) + 1 end
print("coroutines: " .. inside(3000) .. " " .. wrapped(3000))
endless("foreach", function(enter)
  local function f() enter() table.foreach({ 1 }, f) end
  return f
end)
endless("loaded functions", function(enter)
  local function f() enter() local r = loadstring "local f = ... local r = f() return r" (f) return r end
  return f
end)
-- Functions that `load` reads from, under as much of the parser as there may be.
for _, open in ipairs { "return (", "return {", "return function() return ", "do ", "if x then ", "return x -> ", "return x ? ", "return - ", "return 2 ^ " } do
  for _, levels in ipairs { 1, 10, 95 } do
    endless("reader behind " .. levels .. " " .. open, function(enter)
      local function f()
        enter()
        local step, message = 0
        local _, own = load(function()
          step = step + 1
          if step == 1 then return open .. open:gsub("^return ", ""):rep(levels - 1) end
          message = select(2, pcall(f))
        end)
        error(message or own, 0)
      end
      return f
    end)
  end
end
-- Text that is nested.
local function nested(name, before, open, inner, close, n)
  local f, message = loadstring("local a = ... " .. before .. open:rep(n) .. inner .. close:rep(n))
  print(name .. ", " .. n .. ": " .. (f and "loaded" or (message:gsub("^.*:%d+: ", ""))))
end
for _, n in ipairs { 50, 100000 } do
  nested("parentheses", "a = ", "(", "1", ")", n)
  nested("tables", "a = ", "{", "", "}", n)
  nested("blocks", "", "do ", "", " end", n)
  nested("calls", "", "a(", "", ")", n)
  nested("functions", "", "a = function() ", "", " end", n)
  nested("loops", "", "while a do ", "", " end", n)
  nested("choices", "", "if a then else ", "", " end", n)
end
local function expression(name, text, n)
  local f, message = loadstring("local a = 1 return " .. text:rep(n) .. "a")
  print(name .. ", " .. n .. ": " .. (f and "loaded" or (message:gsub("^.*:%d+: ", ""))))
end
for _, n in ipairs { 150, 100000 } do
  expression("minus", "- ", n)
  expression("not", "not ", n)
  expression("concatenation", "a .. ", n)
  expression("powers", "a ^ ", n)
  expression("sums", "a + ", n)
  expression("sums in parentheses", "a + (", n)
end

-- Patterns that backtrack deeply.
local function pattern(name, ...)
  local ok, message = pcall(string.find, ...)
  print(name .. ": " .. (ok and "found" or (message:gsub("^.*:%d+: ", ""))))
end
local long = ("a"):rep(200000)
pattern("short", long, "^.-b")
pattern("long", long, "^.*b")
pattern("captures", long, "^" .. ("(a)"):rep(30) .. "b")
pattern("groups", ("a"):rep(200), "^" .. ("(a*"):rep(2) .. "b" .. (")"):rep(2))
pattern("balanced", ("("):rep(2000) .. ")", "^%b()$")
pattern("many items", ("a"):rep(3000), "^" .. ("a"):rep(3000) .. "b")
