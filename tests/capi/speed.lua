-- Measures one way of using C, the argument, in nanoseconds an operation; prints the least of several runs.
local speed = require("speed")
local ways = {}

ways["empty"] = {3e6, function(n) local empty = speed.empty for _ = 1, n do empty() end end}
ways["add"] = {3e6, function(n) local add, x = speed.add, 0 for i = 1, n do x = add(x, i) end assert(x == n * (n + 1) / 2) end}
ways["lua_call"] = {3e6, function(n) speed.call(function(a, b) return a + b end, n) end}
ways["lua_call of C"] = {3e6, function(n) speed.call(speed.add, n) end}
ways["lua_pcall"] = {3e6, function(n) assert(speed.pcall(function(a, b) return a + b end, n) == 0) end}
ways["lua_pcall, error in C"] = {3e5, function(n) assert(speed.pcall(speed.fail, n) == n) end}
ways["lua_pcall, error in Lua"] = {3e5, function(n) assert(speed.pcall(function() error("an error") end, n) == n) end}
ways["pcall, error in C"] = {3e5, function(n) for _ = 1, n do pcall(speed.fail) end end}
ways["lua_resume"] = {1e6, function(n) speed.resume(function(a) while true do a = coroutine.yield(a) end end, n) end}
ways["tables"] = {3e6, function(n) speed.table(n) end}
ways["userdata"] = {1e6, function(n) local box, unbox, x = speed.box, speed.unbox, 0 for i = 1, n do x = x + unbox(box(i)) end end}
ways["gsub in Lua"] = {1e4, function(n) speed.call(function() return (("some text"):gsub("%w+", "x")) end, n) end}

ways["cjson"] = {3e3, function(n)
  local json = require("cjson")
  local record = {id = 1, name = "a name", tags = {"one", "two", "three"}, nested = {x = 1.5, y = {true, false}}}
  local list = {}
  for i = 1, 20 do list[i] = record end
  local text = json.encode(list)
  for _ = 1, n do text = json.encode(json.decode(text)) end
end}
ways["lpeg"] = {3e3, function(n)
  local l = require("lpeg")
  local space = l.S(" \n")^0
  local number, name = l.C(l.R("09")^1) / tonumber * space, l.C(l.R("az")^1) * space
  local list = l.P{"list", list = l.Ct("(" * space * (l.V("list") + number + name)^0 * ")" * space)}
  local text = ("(one 2 (three 4 (five)) 6 seven) "):rep(10)
  local all = l.Ct(list^0)
  for _ = 1, n do assert(#all:match(text) == 10) end
end}
ways["lpeg, substitution"] = {3e3, function(n)
  local l = require("lpeg")
  local words = l.Cs((l.R("az")^1 / string.upper + 1)^0)
  local text = ("some words, 12 of them; "):rep(10)
  for _ = 1, n do assert(#words:match(text) == #text) end
end}
ways["socket"] = {2e4, function(n)
  local socket = require("socket")
  local server = assert(socket.bind("127.0.0.1", 0))
  local client = assert(socket.connect("127.0.0.1", (select(2, server:getsockname()))))
  local peer = assert(server:accept())
  for _ = 1, n do
    client:send("a line of text\n")
    assert(peer:receive("*l") == "a line of text")
  end
  client:close() peer:close() server:close()
end}
ways["socket, lines"] = {300, function(n)
  local socket = require("socket")
  local server = assert(socket.bind("127.0.0.1", 0))
  local client = assert(socket.connect("127.0.0.1", (select(2, server:getsockname()))))
  local peer = assert(server:accept())
  local lines = ("a line of text\n"):rep(1000)
  for _ = 1, n do
    client:send(lines)
    for _ = 1, 1000 do assert(peer:receive("*l")) end
  end
  client:close() peer:close() server:close()
end}
ways["mime"] = {3e3, function(n)
  local mime = require("mime")
  local text = ("some text "):rep(100)
  for _ = 1, n do assert(mime.unb64((mime.b64(text))) == text) end
end}
ways["lfs"] = {3e4, function(n)
  local lfs = require("lfs")
  for _ = 1, n do assert(lfs.attributes("/", "mode") == "directory") end
end}

local name = ...
if not name then
  local names = {}
  for way in pairs(ways) do names[#names + 1] = way end
  table.sort(names)
  print(table.concat(names, "\n"))
  return
end
local n, run = ways[name][1], ways[name][2]
local least = math.huge
for _ = 1, 5 do
  local start = os.clock()
  run(n)
  least = math.min(least, os.clock() - start)
end
print(least / n * 1e9)
