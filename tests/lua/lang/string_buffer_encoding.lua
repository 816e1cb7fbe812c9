-- Buffers: values to bytes and back, dictionaries, malformed input.
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
-- encode

   for _, v in ipairs{ 1, 1.5, -0.0, 2^40, "", "a", ("x"):rep(0xbf), ("x"):rep(0xc0), ("x"):rep(0x1fbf), ("x"):rep(0x1fc0), ("x"):rep(70000), true, {},
    {1,2,3}, {[0]=1}, {[0]=1,2}, {false}, {{{}}}, {a=1}, {1,a=1}, {[0]=1,a=2}, math.huge, -math.huge } do
  local s = buffer.encode(v) show(#s, hex(s:sub(1,60)))
  local b = B"pre" b:encode(v) show(b == b, #b, #b:get(3)) assert(b:tostring() == s)
  local d = buffer.decode(s) assert(type(d) == type(v)) if type(v) ~= "table" then assert(d == v) end
  local d2 = b:decode() assert(type(d2) == type(v)) assert(#b == 0)
end
show(hex(buffer.encode(nil)), hex(buffer.encode(false)), hex(buffer.encode(0/0)))
show(buffer.decode("\0"))
show(buffer.decode(buffer.encode(0/0)))
try(buffer.encode)
try(buffer.encode, print)
try(buffer.encode, coroutine.create(print))
try(buffer.encode, io.stdout)
try(buffer.encode, B())
try(buffer.encode, {1,{print}})
do local b = B"keep" try(b.encode, b)
  try(b.encode, b, {1, print})
  try(b.encode, b, print)
  show(pcall(function()
  b:encode(print) end))
  show(pcall(function()
  b:encode() end)) end
do local t = {} t.t = t try(buffer.encode, t) local x = {} for i=1,99 do x={x} end show(#buffer.encode(x)) x={x} try(buffer.encode, x) end
local s = ("\x0a\1"):rep(99).."\8" show(type(buffer.decode(s))) try(buffer.decode, ("\x0a\1"):rep(100).."\8")
-- decode errors

   for _, h in ipairs{ "", "ff", "ffffffffff", "e0", "0601", "07", "13", "1f", "10", "1001020304050607", "100102030405060708", "110102030405060708", "12"..("00"):rep(16), "0e00", "0e", "0f00", "0f", "0fff", "0fffffffff", "0000", "0900", "0901", "0902210000", "090200", "090100", "09010007", "0901000000", "0901070000000000000000", "09012161", "090121610009", "0902216101216102", "09022161022161", "0902216100216102", "0a", "0a01", "0aff", "0affffffffff", "0aff00000080", "0aff00000008", "0c00", "0c01", "0c02", "0c0202", "0cffffffffff","0b", "0b0101", "0b01010202", "0d0201020202", "09ffffffffff", "09ff00000004","09ff01000004", "0901ff", "03", "0400000000", "0401000000", "050000000000000000", "0501000000000000", "05010000000000000000", "050000000001000000", "0700000000000000f87f", "070000000000000ff8ff", "07ffffffffffffffff","0901" .."07ffffffffffffffff".."02", "20", "2161", "22", "1600" } do
  local ok, r = pcall(buffer.decode, un(h)) print(h, ok, (tostring(r):gsub("0x%x+","ADDR")))
  local b = B(un(h)) local ok, r = pcall(b.decode, b) print("", ok, (tostring(r):gsub("0x%x+","ADDR")), #b)
  local b = buffer.new{dict={"k1","k2"},metatable={{}}}:set(un(h)) local ok, r = pcall(b.decode, b) print("", ok, (tostring(r):gsub("0x%x+","ADDR")), #b, type(r)=="table" and getmetatable(r) ~= nil)
  print(pcall(function() local x = buffer.decode(un(h)) return type(x) end))
end
try(buffer.decode) try(buffer.decode, 1) try(buffer.decode, {}) try(buffer.decode, B"\0")
-- dict
do
  local mt1, mt2 = {n=1}, {n=2}
  local opts = {dict={"foo","bar","foo",false,"baz"}, metatable={mt1,false,mt2}}
  local b = buffer.new(opts)
  local function enc(v) return b:reset():encode(v):get() end
  show(hex(enc{foo=1}))
  show(hex(enc{bar=1}))
  show(hex(enc{baz=1}))
  show(hex(enc{qux=1}))
  show(hex(enc("foo")))
  show(hex(enc{"foo"}))
  show(hex(enc{foo="bar"}))
  show(hex(enc(setmetatable({},mt1))))
  show(hex(enc(setmetatable({x=1},mt2))))
  show(hex(enc(setmetatable({x=1},{}))))
  local o = buffer.new(opts):set(enc(setmetatable({foo=1,bar={baz=2}},mt2))):decode()
  show(getmetatable(o)==mt2, o.foo, o.bar.baz)
  for _, h in ipairs{"0f00","0f02","0f03","0f04","0f05","0fffffffffff","0e0008","0e0108","0e0208","0e0308","0e00","0e000e","0e0007","0e0006","0e00216161", "0e0009010f000f01"} do
    b:set(un(h)) local ok, r = pcall(b.decode, b) print(h, ok, type(r)=="table" and getmetatable(r).n or r, #b) end
end
-- prot methods
do local b = B"x" for _, m in ipairs{"putcdata"} do try(b[m], b)
  try(b[m], b, "x")
  try(b[m], b, "x", 1)
  show(pcall(function() b[m](b, 1) end))
  show(pcall(function()
  b:putcdata(1) end)) end end
do local b = B"x" try(b.reserve, b) try(b.reserve, b, "x") try(b.commit, b) try(b.commit, b, -1) end
