-- A program with something of everything: for the consumers of its profile, dump and snapshot. Arguments: the files to write.
local misc = require "misc"
local profile, dump, snapshot = ...
Account = {}
Account.__index = Account
local cache, weak = {}, setmetatable({}, { __mode = "v" })
local function open(n)
  local a = setmetatable({ id = n, history = {} }, Account)
  a.history[1] = "opened " .. n
  cache[n], weak[n] = a, a
  return a
end
assert(misc.memprof.start(profile))
for i = 1, 3000 do open(i) end
local made = assert(loadstring("local a = ...\nreturn function()\nreturn { a }\nend"))
for i = 1, 100 do cache[-i] = made(i)() end
local strings = {}
for i = 1, 500 do strings[i] = ("x"):rep(i) .. i end
for i = 1, 500, 2 do strings[i] = nil end
waiting = coroutine.create(function(n)
  local held = { n }
  coroutine.yield(held)
end)
coroutine.resume(waiting, 42)
keyed = { [1.5] = {}, [true] = {}, [strings] = 1, ["quote\"\\\n\255"] = print }
proxy = newproxy(true)
text = "bytes \0\1\127\200 and \xe2\x82\xac"
collectgarbage()
assert(misc.memprof.stop())
assert(misc.heapdump(dump))
assert(misc.heapsnapshot(snapshot))
