-- Arguments that make no sense, and what the switches do.
local util = require "jit.util"

local function fails(text, f)
  local ok, message = pcall(f)
  assert(not ok, "no error: " .. text)
  message = message:gsub("^errors%.lua:%d+: ", "")
  assert(message == text, message)
end

-- jit.on, jit.off, jit.flush
for _, name in ipairs { "on", "off", "flush" } do
  local f = jit[name]
  local function text(got) return "bad argument #1 to '" .. name .. "' (function expected, got " .. got .. ")" end
  if name == "on" then
    fails(text "number", function() jit.on(1) end)
    fails(text "string", function() jit.on("1") end)
    fails(text "table", function() jit.on({}) end)
    fails(text "boolean", function() jit.on(false) end)
    fails(text "function", function() jit.on(print) end)
  elseif name == "off" then
    fails(text "number", function() jit.off(1) end)
    fails(text "function", function() jit.off(print) end)
  else
    fails(text "string", function() jit.flush("1") end)
    fails(text "table", function() jit.flush({}) end)
  end
  -- Without a name, and with no Lua function that calls.
  local ok, message = pcall(f, {})
  assert(not ok and message == "bad argument #1 to '?' (function expected, got table)", message)
  ok, message = pcall(f, true)
  assert(not ok and message == "bad argument #1 to '?' (function expected, got boolean)", message)
end
for _, n in ipairs { 0, 1, -1, 2.7, 1e9, 70000 } do assert(select("#", jit.flush(n)) == 0) end
assert(select("#", jit.on()) == 0 and select("#", jit.off(nil)) == 0 and jit.status() == false)
jit.on(nil)
assert(jit.status() == true)

-- Functions, prototypes, children.
local traces
local function watch() traces = traces + 1 end
local function compiled(f)
  traces = 0
  jit.attach(watch, "trace")
  f(200)
  jit.attach(watch)
  return traces > 0
end
local function make()
  return loadstring [[
    local function inner(n) local s = 0 for i = 1, n do s = s + i end return s end
    local function outer(n) return inner(n) end
    return outer, inner
  ]]
end
local chunk = make()
local outer, inner = chunk()
jit.off(inner)
assert(not compiled(outer))
jit.on(inner)
assert(compiled(outer))
chunk = make()
jit.off(chunk, true)
outer, inner = chunk()
assert(not compiled(outer))
jit.on(chunk, false)
assert(compiled(outer))
chunk = make()
outer, inner = chunk()
jit.off(util.funcinfo(inner).proto)
assert(not compiled(outer), "a prototype is a function")
local _, closure = chunk()
assert(not compiled(closure), "all closures of the prototype are meant")
jit.on(closure)
assert(compiled(outer))
-- true is the function that calls.
local function switched(f)
  f(true)
  local s = 0
  for i = 1, 200 do s = s + i end
end
assert(not compiled(function() switched(jit.off) end))
assert(compiled(function() switched(jit.on) end))

-- jit.opt.start
local function flags()
  local list = {}
  for _, word in ipairs { select(2, jit.status()) } do
    if word:match "^%l+$" then list[#list + 1] = word end
  end
  return table.concat(list, " ")
end
local ALL = "fold cse dce fwd dse narrow loop abc sink sync fuse"
assert(flags() == ALL)
for _, wrong in ipairs { "foo", "hotloop", "hotloop=x", "hotloop=-1", "hotloop=1x", "hotloop=1.5", "10", "+", "-", "no", "", "FOLD", "+foo", "-hotloop=1", "=1" } do
  fails("unknown or malformed optimization flag '" .. wrong .. "'", function() jit.opt.start(wrong) end)
end
fails("bad argument #2 to 'start' (string expected, got table)", function() jit.opt.start("fold", {}) end)
fails("unknown or malformed optimization flag 'bad'", function() jit.opt.start("-cse", "bad", "-fold") end)
assert(flags() == "fold dce fwd dse narrow loop abc sink sync fuse", "what comes before a wrong flag stays applied")
jit.opt.start()
assert(flags() == ALL)
for level, text in pairs { [0] = "", "fold cse dce", "fold cse dce narrow loop", ALL, [9] = ALL } do
  jit.opt.start(level)
  assert(flags() == text, level)
  jit.opt.start(tostring(level))
  assert(flags() == text, level)
end
jit.opt.start(0, "+fold", "cse", "loop", "-cse", "noloop", "no-fold", "sink")
assert(flags() == "sink")
jit.opt.start(3, "hotloop=", "hotexit=5", "maxtrace=100", "sizemcode=32", "maxmcode=1024")
jit.opt.start("hotloop=56", "hotexit=10")

-- jit.util
fails("bad argument #1 to 'funcinfo' (function expected, got number)", function() util.funcinfo(1) end)
fails("bad argument #1 to 'funcinfo' (function expected, got no value)", function() util.funcinfo() end)
for _, name in ipairs { "funcbc", "funck", "funcuvname" } do
  local f = util[name]
  fails("bad argument #1 to 'f' (function expected, got function)", function() f(print, 1) end)
  fails("bad argument #1 to 'f' (function expected, got table)", function() f({}, 1) end)
  fails("bad argument #2 to 'f' (number expected, got no value)", function() f(make) end)
  assert(select("#", f(make, 1e6)) == 0 and select("#", f(make, -1e6)) == 0)
end
for _, name in ipairs { "traceinfo", "traceir", "tracek", "tracesnap", "tracemc" } do
  local f = util[name]
  fails("bad argument #1 to 'f' (number expected, got table)", function() f({}, 0) end)
  assert(select("#", f(0, 0)) == 0 and select("#", f(-1, 0)) == 0 and select("#", f(65535, 0)) == 0 and select("#", f("999", 0)) == 0)
end
local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
jit.flush()
sum(100)
assert(util.traceinfo(1) and util.traceinfo "1", "a number may be a text")
print "ok"
