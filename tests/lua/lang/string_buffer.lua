-- Buffers: their methods, and where else they are taken for strings.
local buffer = require "string.buffer"
local function hex(s) return (s:gsub('.',function(c) return ('%02x'):format(c:byte()) end)) end
local function un(s) return (s:gsub('%x%x', function(h) return string.char(tonumber(h,16)) end)) end
local function show(...)
  local t = {}
  for i = 1, select('#', ...) do local v = select(i, ...) t[i] = type(v)=="userdata" and "<ud>"..tostring(v) or type(v)=="string" and ("%q"):format(v) or tostring(v):gsub("0x%x+","ADDR") end
  print(table.concat(t, " "))
end
local function try(f, ...) show(pcall(f, ...)) end
local function B(s) local b = buffer.new() if s then b:put(s) end return b end
-- new
for _, a in ipairs{ {}, {0}, {10}, {-1}, {1.5}, {2^31}, {0/0}, {"10"}, {true}, {{}}, {10,{}}, {10,5}, {{dict=5}},
    {{dict={1}}}, {{dict={"a",false,"b"}}}, {{metatable={"x"}}}, {{metatable={{},false}}},
    {2^31-512} } do try(buffer.new, unpack(a)) end
try(buffer.new, nil)
try(buffer.new, nil, {})
try(buffer.new, 10, nil)
try(buffer.new, nil, nil)
try(buffer.new, {}, 5)
-- methods on non-buffers
for _, m in ipairs{"free","reset","skip","set","put","putf","get","encode","decode","tostring","__len","__tostring","__gc"} do
  local f = buffer.new()[m]
  try(f) try(f, nil) try(f, "x") try(f, {}) try(f, io.stdout)
  show(pcall(function() return f() end)) 
  show(pcall(function() f("x") end)) 
end
-- put
for _, a in ipairs{ {}, {"a"}, {1}, {1.5}, {-0.0}, {0/0}, {1e300}, {nil}, {true}, {{}}, {print}, {"a",1,"b",{}},
    {setmetatable({},{__tostring=function() return "ts" end})},
    {setmetatable({},{__tostring=function() return {} end})},
    {setmetatable({},{__tostring=function() return 12 end})},
    {setmetatable({},{__tostring=function() return B"buf" end})},{setmetatable({},{__tostring=5})} } do
  local b = B() try(b.put, b, unpack(a)) show(b)
end
do local b = B()
  try(b.put, b, nil)
  try(b.put, b, "x", b)
  show(b)
  show(pcall(function()
  b:put("x", b) end))
  show(pcall(function()
  b:put({}) end))
  show(pcall(function()
  b:put() end)) end
do local b = B"zz" try(b.put, b, B"12", B"34") show(b) end
-- putf
for _, a in ipairs{ {}, {"a"}, {"%d", 5}, {"%s"}, {"%d", "x"}, {"%y"}, {"a%sb%d", "q"}, {5}, {{}},
    {"%s|%q", {1} and B"in", "x\n"}, {"%5.2f|%x", 1.234, 255} } do
  local b = B() try(b.putf, b, unpack(a)) show(b)
  show(pcall(function() b:putf(unpack(a)) end))
end
-- get skip
for _, a in ipairs{ {}, {0}, {2}, {100}, {2,3}, {-1}, {"2"}, {1.9}, {{}}, {true}, {2^31}, {1,1,1,1,1,1,1,1,1,1,1},
    {1, -1}, {2, "x"} } do
  local b = B"hello" try(b.get, b, unpack(a)) show(b, #b)
  b = B"hello" try(b.skip, b, unpack(a)) show(b, #b)
end
try(B"hello".get, B"hello", nil) try(B"hello".get, B"hello", 2, nil, 1) try(B().skip, B(), nil)
-- set
for _, a in ipairs{ {}, {"abc"}, {12}, {1.5}, {nil}, {{}}, {B"q"},
    {""} } do local b = B"old" try(b.set, b, unpack(a)) show(b, #b) b:put("more") show(b, b:get(2), b) end
do local b = B"x" b:set("hello world")
  show(b:get(3), b)
  b:put("!")
  show(b)
  b:set("yes"):reset()
  show(#b)
  b:set("abc"):free()
  show(#b)
  b:put("k")
  show(b)
  b:set("abcdef"):skip(10)
  show(#b, b)
  b:put("z")
  show(b)
  b:set("")
  show(#b, b:get()) end
-- concat etc
do local b = B"bb" show(b.."x", "x"..b, b..b, 1 ..b, b..2, "a"..b.."c"..b)
  show(b:tostring(), tostring(b), #b, type(b), getmetatable(b))
 try(function() return b..{} end) try(function() return {}..b end) try(function() return b..nil end)
 local mt = setmetatable({}, {__concat=function(x,y) return type(x)..type(y) end})
  show(b..mt, mt..b, "x"..b..mt)
 try(function() return b + 1 end)
  try(function() return -b end)
  try(function() return b < b end)
  try(function() return b < "x" end)
  show(b == b, b == B"bb", b == "bb")
 try(function() return b.nope end)
  try(function() b.x = 1 end)
  try(function() return b() end)
  try(function() return b:nope() end)
 try(setmetatable, b, {})
  io.write(b, "|", b, "\n")
  io.stdout:write(b, "\n")
  print(b) show(string.format("%s %10s|%q", b, b, b))
 try(table.concat, {b})
  try(string.len, b)
  try(string.rep, b, 2)
  try(tonumber, b)
  try(string.gsub, "a", "a", b)
  try(string.gsub, "a", "a", function() return b end)
  try(load, b)
  try(load, function() return b end)
  try(error, b)
  try(select, b)
  try(math.floor, b)
  try(ipairs, b)
  try(next, b)
  try(rawlen or type, b)
  try(b.__tostring, b, 1)
 local t = {} t[b] = 1 show(t[b])
end
-- buffers in formats
do
  local b, c = buffer.new(), buffer.new():put("cc")
  try(b.putf, b, "%g %s %s", 1, c)
  show(b)
  b:reset()
  try(b.putf, b, "%g %s %s", 1, b)
  show(b)
  show(pcall(function() b:putf("%q", b) end))
  b:reset()
  show(string.format("%s %5s", setmetatable({}, {__tostring = function() return c end}), c))
  b:putf("a%sb%sc", setmetatable({}, {__tostring = function() b:put("!") return "?" end}), c)
  show(b)
end
