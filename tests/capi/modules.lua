-- Uses modules in C, and prints what they do: the same with LuaJIT and with Perilune. The argument is the name of one, or nothing for all.
local uses = {}
local order = {}
local function use(name, f)
  uses[name] = f
  order[#order + 1] = name
end

local function sorted(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  table.sort(keys)
  return table.concat(keys, " ")
end

-- Calls that fail, many times, so that errors go through C frames in compiled code as well.
local function failures(f, ...)
  local message
  for _ = 1, 300 do
    local ok, e = pcall(f, ...)
    assert(not ok)
    message = tostring(e):gsub("0x%x+", "0x")
  end
  return message
end

use("cjson", function(cjson)
  print(cjson.encode({1, 2.5, "three", true, cjson.null, {nested = {}}}))
  local t = cjson.decode('{"a": [1, 2, {"b": null}], "c": "\\u00e9\\n", "d": 1e3, "e": -0.5}')
  print(sorted(t), #t.a, t.a[3].b == cjson.null, t.c, t.d, t.e)
  print(failures(cjson.decode, '{"a": ['))
  print(failures(cjson.encode, {print}))
  local n = 0
  for i = 1, 300 do n = n + #cjson.encode(cjson.decode('[' .. ('{"x":[1,2,3]},'):rep(i % 7) .. '0]')) end
  print(n)
end)

use("lpeg", function(lpeg)
  local P, R, S, C, Ct, V = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Ct, lpeg.V
  local number = C(R"09"^1) / tonumber
  local space = S" \n"^0
  local function fold(a, op, b)
    if not op then return a elseif op == "+" then return a + b elseif op == "-" then return a - b elseif op == "*" then return a * b
    else return a / b end
  end
  local function left(inner, op) return lpeg.Cf(inner * lpeg.Cg(op * inner)^0, fold) end
  local grammar = P{"exp", exp = left(V"term", C(S"+-") * space), term = left(V"factor", C(S"*/") * space),
    factor = number * space + P"(" * space * V"exp" * P")" * space}
  for _, s in ipairs{"1 + 2 * 3", "(1 + 2) * 3 - 4 / 2", "2 * (3 + (4 - 1)) * 5"} do print(s, lpeg.match(grammar, s)) end
  local words = Ct((C(R("az", "AZ")^1) + 1)^0)
  local n = 0
  for i = 1, 300 do n = n + #words:match(("some words "):rep(i % 5)) end
  print(n, table.concat(words:match("a few, words."), "|"))
  print(lpeg.match(lpeg.Cs((P"a" / "b" + 1)^0), "banana"), lpeg.match(P(-1), ""), lpeg.type(grammar))
  print(failures(function() return P{"x"} end))
  print(failures(lpeg.match, lpeg.Cmt(1, function() error("in a match") end), "x"))
  print(lpeg.match(lpeg.Cmt(C(1)^0, function(_, i, ...) return i, select("#", ...) end), ("x"):rep(200)))
end)

use("lfs", function(lfs)
  local folder = os.tmpname()
  os.remove(folder)
  print(lfs.mkdir(folder), lfs.mkdir(folder) == nil)
  for _, name in ipairs{"b", "a", "c"} do
    local file = io.open(folder .. "/" .. name, "w")
    file:write(name)
    file:close()
  end
  local names = {}
  for name in lfs.dir(folder) do names[#names + 1] = name end
  table.sort(names)
  print(table.concat(names, " "))
  print(lfs.attributes(folder, "mode"), lfs.attributes(folder .. "/a", "size"), lfs.attributes(folder .. "/x") == nil)
  print(failures(lfs.dir, folder .. "/none"):gsub("lua_%w+", "X"))
  for _, name in ipairs{"b", "a", "c"} do os.remove(folder .. "/" .. name) end
  print(lfs.rmdir(folder))
end)

use("socket", function(socket)
  local server = assert(socket.bind("127.0.0.1", 0))
  local _, port = server:getsockname()
  local client = assert(socket.connect("127.0.0.1", port))
  local peer = assert(server:accept())
  for i = 1, 100 do
    assert(client:send(("line %d\n"):format(i)))
    local line = assert(peer:receive("*l"))
    if i % 50 == 0 then print(line) end
  end
  peer:settimeout(0.01)
  print(peer:receive(1))
  client:close()
  print(peer:receive("*a"))
  peer:close()
  server:close()
  print(socket.dns.toip("127.0.0.1"), socket.try ~= nil, tostring(client):match("^%a+{%a+}"))
  local guarded = socket.protect(function() socket.try(nil, "an error") end)
  print(guarded())
end)

use("mime.core", function(mime)
  print(mime.b64("some text"), mime.unb64("c29tZSB0ZXh0"), mime.qp("a=b\n"))
end)

use("posix", function(posix)
  print(type(posix.getpid().pid), posix.basename("/a/b"), posix.dirname("/a/b"), posix.getenv("HOME") == os.getenv("HOME"))
  print(posix.stat("/").type, posix.access("/nonexistent"))
  local r, w = posix.pipe()
  print(posix.write(w, "through a pipe"), posix.read(r, 100))
  posix.close(r)
  posix.close(w)
  print(failures(posix.stat, {}))
end)

use("zlib", function(zlib)
  local text = ("some text that repeats, "):rep(2000)
  local packed = zlib.deflate()(text, "finish")
  print(#packed < #text / 10, zlib.inflate()(packed) == text, zlib.crc32()("abc"), zlib.adler32()("abc"))
  print(failures(zlib.inflate(), "no zlib data"))
end)

use("md5.core", function(md5) print((md5.sum("abc"):gsub(".", function(c) return ("%02x"):format(c:byte()) end))) end)

use("luasql.sqlite3", function(luasql)
  local env = luasql.sqlite3()
  local db = assert(env:connect(":memory:"))
  print(db:execute("create table t (a integer, b text)"))
  for i = 1, 200 do db:execute(("insert into t values (%d, 'row %d')"):format(i, i)) end
  local cursor = db:execute("select * from t where a % 50 = 0 order by a")
  local row = cursor:fetch({}, "a")
  while row do
    print(row.a, row.b)
    row = cursor:fetch(row, "a")
  end
  print(db:execute("no SQL"))
  print(cursor:close(), db:close(), env:close())
end)

use("lxp", function(lxp)
  local depth, seen = 0, {}
  local parser = lxp.new{
    StartElement = function(_, name, attributes)
      depth = depth + 1
      seen[#seen + 1] = ("%s%s(%s)"):format((" "):rep(depth), name, table.concat(attributes, ","))
    end,
    EndElement = function() depth = depth - 1 end,
    CharacterData = function(_, text) seen[#seen + 1] = text end,
  }
  print(parser:parse("<a x='1' y='2'><b>text</b><c/></a>") == parser, parser:parse() == parser)
  print(table.concat(seen, "\n"))
  print(lxp.new{}:parse("<a><b></a>"))
  local failing = lxp.new{StartElement = function() error("in a callback") end}
  print(pcall(failing.parse, failing, "<a/>"))
end)

use("lyaml", function(yaml)
  local t = yaml.load("a: 1\nb: [x, y]\nc: {d: true}\n")
  print(t.a, t.b[2], t.c.d, failures(yaml.load, "a: [1"))
  print(yaml.load(yaml.dump({{1, 2, {3}}}))[3][1])
end)

use("mpack", function(mpack)
  local packed = mpack.pack({1, "two", {three = 3.5}, mpack.NIL})
  local t = mpack.unpack(packed)
  print(#packed, t[1], t[2], t[3].three, t[4] == mpack.NIL, failures(mpack.unpack, "\xc1"))
end)

use("rex_pcre2", function(rex)
  print(rex.match("key = value", [[(\w+)\s*=\s*(\w+)]]), rex.gsub("hello world", "o", "0"))
  for a, b in rex.gmatch("a1b2c3", "([a-z])([0-9])") do io.write(a, b, ";") end
  print()
  print(rex.gsub("x y z", [[\w]], function(c) return c:upper() .. "!" end), failures(rex.new, "("))
end)

use("openssl.digest", function(digest)
  print((digest.new("sha256"):final("abc"):gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
  print(require("openssl.bignum").new("12345678901234567890") * 2)
  print((failures(digest.new, "no such digest"):gsub("^.*/", "")))
end)

use("ssl", function(ssl)
  print(ssl._VERSION, ssl.newcontext({mode = "client", protocol = "any"}) ~= nil, pcall(ssl.newcontext, {mode = "client", protocol = "none"}))
end)

use("luv", function(uv)
  local log = {}
  local timer = uv.new_timer()
  local n = 0
  timer:start(1, 1, function()
    n = n + 1
    log[#log + 1] = "timer " .. n
    if n == 3 then timer:close() end
  end)
  local co = coroutine.create(function()
    local me = coroutine.running()
    uv.fs_stat("/", function(_, stat) coroutine.resume(me, stat) end)
    local stat = coroutine.yield()
    log[#log + 1] = stat.type
  end)
  coroutine.resume(co)
  uv.run()
  table.sort(log)
  print(table.concat(log, " "), uv.loop_alive(), failures(uv.fs_stat))
  print(uv.fs_stat("/nonexistent"))
end)

use("cqueues", function(cqueues)
  local queue = cqueues.new()
  local log = {}
  for i = 1, 5 do
    queue:wrap(function()
      for j = 1, 3 do
        cqueues.sleep(0.001 * i)
        log[#log + 1] = i * 10 + j
      end
    end)
  end
  assert(queue:loop())
  table.sort(log)
  print(#log, log[1], log[#log], queue:empty())
  queue:wrap(function() error("in a coroutine") end)
  print((select(2, queue:loop()):gsub("^.*: ", "")))
  local condition = require("cqueues.condition").new()
  queue:wrap(function() condition:wait() log[1] = "woken" end)
  queue:wrap(function()
    cqueues.sleep(0.01)
    condition:signal()
  end)
  assert(queue:loop())
  print(log[1])
end)

use("lgi", function(lgi)
  local GLib, GObject = lgi.GLib, lgi.GObject
  print(GLib.path_get_basename("/a/b"), GLib.ascii_strup("text", -1), lgi.Gio.File.new_for_path("/tmp"):get_path())
  local loop, n = GLib.MainLoop(), 0
  GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, function()
    n = n + 1
    if n == 3 then loop:quit() end
    return n < 3
  end)
  loop:run()
  print(n, GObject.type_name(GObject.Object._gtype))
end)

use("bit", function(bit) print(bit.band(0xff, 0x0f), bit.tohex(bit.bxor(1, 2)), bit.rshift(256, 4)) end)

use("iconv", function(iconv)
  local convert = iconv.new("iso-8859-1", "utf-8")
  print(#convert:iconv("é"), failures(iconv.new, {}))
end)

use("luaevent.core", function(event)
  local base, log = event.new(), {}
  base:addevent(nil, event.EV_TIMEOUT, function() log[#log + 1] = "timeout" return event.LEAVE end, 0.001)
  base:loop()
  print(table.concat(log, " "))
end)

use("term.core", function(term) print(sorted(term)) end)

-- Linked with the library of PUC Lua 5.1, which is loaded with it. It is not closed: its finalizer would close it again.
use("augeas", function(augeas)
  local tree = augeas.init("/none", nil, 0)
  augeas.set(tree, "/a/b[1]", "one")
  augeas.set(tree, "/a/b[2]", "two")
  for _ = 1, 300 do assert(#augeas.match(tree, "/a/b") == 2) end
  print(augeas.get(tree, "/a/b[2]"), augeas.match(tree, "/a/*")[1], augeas.rm(tree, "/a/b[1]"), failures(augeas.get, 1))
end)

local wanted = ...
io.stdout:setvbuf("no")
for _, name in ipairs(order) do
  if not wanted or wanted == name then
    local ok, module = pcall(require, name)
    if not ok then
      print(name .. ": not loaded: " .. tostring(module))
      os.exit(2)
    end
    print("-- " .. name)
    uses[name](module == true and _G[name] or module)
    collectgarbage()
  end
end
