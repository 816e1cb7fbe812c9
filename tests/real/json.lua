-- dkjson, lunajson and MessagePack read and write the same data; basexx packs it.
local tree = "deb/usr/share/lua/5.1/"
package.path = tree .. "?.lua;lunajson/src/?.lua;" .. package.path
local dkjson, lunajson, msgpack, basexx = require("dkjson"), require("lunajson"), require("MessagePack"), require("basexx")
local data = { name = "perilune", list = {}, nested = { deep = { deeper = { 1, 2.5, -3, 1e20, "text \"quoted\" \\ \n \1 é" } } }, yes = true }
for i = 1, 200 do data.list[i] = { id = i, half = i / 2, text = ("x"):rep(i % 17), odd = i % 2 == 1 } end
local keys = { "name", "yes", "list", "nested", "id", "half", "text", "odd", "deep", "deeper" }
local text = dkjson.encode(data, { indent = true, keyorder = keys })
print(text)
local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for k, v in pairs(a) do if not same(v, b[k]) then return false end end
  for k in pairs(b) do if a[k] == nil then return false end end
  return true
end
print(same(dkjson.decode(text), data), same(lunajson.decode(text), data), same(lunajson.decode(lunajson.encode(data)), data))
print(same(msgpack.unpack(msgpack.pack(data)), data))
for _, bad in ipairs { "", "{", "[1,", "[1,]", '{"a"}', "nul", '"\\x"', "[1e]", "01", '{"a":1,}', "[\1]", '"\\ud800"', "[[[[" } do
  print(bad, pcall(lunajson.decode, bad))
  print(bad, dkjson.decode(bad))
end
local events = {}
local function note(name) return function(v) events[#events + 1] = name .. "=" .. tostring(v) end end
lunajson.newparser('{"a":[1,true,null,"s"],"b":{}}', {
  startobject = note("{"), endobject = note("}"), startarray = note("["), endarray = note("]"), key = note("key"), string = note("string"),
  number = note("number"), boolean = note("boolean"), null = note("null"),
}).run()
print(table.concat(events, " "))
for _, s in ipairs { "", "a", "ab", "abc", text:sub(1, 100), "\0\255\128" } do
  local b64, b32, z85 = basexx.to_base64(s), basexx.to_base32(s), basexx.to_hex(s)
  print(b64, b32, z85, basexx.from_base64(b64) == s, basexx.from_base32(b32) == s, basexx.from_hex(z85) == s)
end
print(basexx.to_hex(msgpack.pack({ 1, -1, 255, 256, 65536, 2 ^ 40, 1.5, "s", true, {}, { a = 1 } })))
