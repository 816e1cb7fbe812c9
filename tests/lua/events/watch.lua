-- Attaches a handler to every event, which checks what it is told and keeps it.
jit.off(true)
local util = require "jit.util"
local vmdef = require "jit.vmdef"

local watch = {
  log = {},          -- starts, stops, aborts and flushes in order
  records = {},      -- by trace number: the records of the last recording
  exits = {},        -- by trace number, by exit number: how often it was reported
  protos = {},       -- prototypes in order
  hotexit = 10,      -- the parameter in force
  texits = 0, starts = 0, stops = 0, aborts = 0, flushes = 0,
}
local LINKS = { none = true, root = true, loop = true, ["tail-recursion"] = true, ["up-recursion"] = true,
  ["down-recursion"] = true, interpreter = true, ["return"] = true, stitch = true }

local current            -- the start whose stop or abort is to come
local live = {}          -- the finished traces: their stops

local function natural(n) return type(n) == "number" and n >= 0 and n % 1 == 0 end

local function line(func, pc)
  local at = util.funcinfo(func, pc).currentline
  assert(natural(at), "a place that has no line")
  return at
end

local function start(count, number, func, pc, parent, exit)
  assert(current == nil, "a start during a recording")
  assert(count == 4 or count == 6, count)
  assert(natural(number) and number >= 1 and not live[number])
  assert(type(func) == "function" and natural(pc) and pc < util.funcinfo(func).bytecodes)
  current = { what = "start", number = number, func = func, pc = pc, line = line(func, pc), parent = parent, exit = exit }
  if count == 6 then
    assert(live[parent])
    if exit == -1 then
      assert(live[parent].linktype == "stitch", "stitched to what does not end in front of a call")
    else
      assert(natural(exit) and exit < live[parent].nexit)
      current.reported = watch.exits[parent][exit]
      assert(current.reported >= watch.hotexit, "a side trace at an exit that is not hot")
    end
  end
  watch.records[number] = {}
  watch.starts = watch.starts + 1
  return current
end

local function stop(count, number, func)
  assert(count == 3, count)
  local i = util.traceinfo(number)
  assert(current.number == number)
  if i.linktype == "stitch" then
    assert(util.funcinfo(func).ffid or util.funcinfo(func).addr, "stitched around no builtin")
  else
    assert(current.func == func)
  end
  assert(natural(i.nins) and natural(i.nk) and i.nk >= 3 and natural(i.nexit) and i.nexit >= 1)
  assert(LINKS[i.linktype] and natural(i.link))
  if i.linktype == "loop" then
    assert(i.link == number)
  elseif i.linktype == "root" then
    -- Variants of a root trace start at its first exit.
    assert(live[i.link] and (live[i.link].parent == nil or live[i.link].exit == 0), "linked to no root trace")
  end
  assert(util.traceir(number, i.nins) and util.traceir(number, i.nins + 1) == nil)
  assert(select("#", util.tracek(number, -i.nk)) >= 2 and util.tracek(number, -i.nk - 1) == nil)
  assert(util.tracesnap(number, i.nexit - 1) and util.tracesnap(number, i.nexit) == nil)
  live[number] = { what = "stop", number = number, func = func, line = current.line, parent = current.parent,
    exit = current.exit, link = i.link, linktype = i.linktype, nexit = i.nexit }
  watch.exits[number] = {}
  watch.stops = watch.stops + 1
  current = nil
  return live[number]
end

local function abort(count, number, func, pc, code, info)
  assert(count == 6, count)
  assert(current.number == number)
  assert(type(func) == "function" and natural(pc))
  if type(code) == "number" then assert(vmdef.traceerr[code], "a reason without a text") end
  assert(util.traceinfo(number), "an aborted trace that cannot be looked at")
  watch.aborts = watch.aborts + 1
  current = nil
  return { what = "abort", number = number, func = func, pc = pc, line = line(func, pc), code = code, info = info }
end

local function flush(count)
  assert(count == 1 and current == nil)
  live, watch.exits = {}, {}
  watch.flushes = watch.flushes + 1
  return { what = "flush" }
end

local what_of = { start = start, stop = stop, abort = abort, flush = flush }

-- An assertion that fails in a handler would only be printed: it is kept for `finish`.
local function checked(f)
  return function(...)
    local ok, message = pcall(f, ...)
    if not ok then watch.failed = watch.failed or message end
  end
end

local function trace(...)
  local what = ...
  assert(what_of[what], "an event that is not known")
  watch.log[#watch.log + 1] = what_of[what](select("#", ...), select(2, ...))
end

local function texit(...)
  local number, exit, ngpr, nfpr = ...
  assert(natural(ngpr) and natural(nfpr) and select("#", ...) == 4 + ngpr + nfpr)
  assert(live[number] and natural(exit) and exit < live[number].nexit)
  local e = watch.exits[number]
  e[exit] = (e[exit] or 0) + 1
  watch.texits = watch.texits + 1
end

local function record(...)
  local number, func, pc, depth = ...
  assert(select("#", ...) == 4)
  assert(current.number == number, "a record of another trace")
  assert(type(func) == "function" and type(depth) == "number")
  if pc == -1 then
    assert(util.funcinfo(func).bytecodes == nil, "a Lua function without a place")
  else
    assert(util.funcbc(func, pc), "a place outside the function")
  end
  local list = watch.records[number]
  list[#list + 1] = { func = func, pc = pc, depth = depth }
end

local function bc(...)
  assert(select("#", ...) == 1)
  local proto = ...
  assert(type(proto) == "proto")
  watch.protos[#watch.protos + 1] = proto
end

local handlers = { trace = checked(trace), texit = checked(texit), record = checked(record), bc = checked(bc) }
local before

function watch.start()
  for event, handler in pairs(handlers) do jit.attach(handler, event) end
  before = util.counters()
end

-- Takes the handlers away and compares what was told with the counters.
function watch.finish()
  for _, handler in pairs(handlers) do jit.attach(handler) end
  local now = util.counters()
  assert(watch.failed == nil, watch.failed)
  local function since(name) return now[name] - before[name] end
  assert(since("started") == watch.starts and since("closed") == watch.stops and since("aborted") == watch.aborts)
  assert(watch.starts == watch.stops + watch.aborts, "a recording without an end")
  assert(since("flushed") == watch.flushes)
  assert(since("deopt") == watch.texits, "exits reported: " .. watch.texits .. ", counted: " .. since("deopt"))
end

-- A recording of the caller ends where one of these is called.
jit.off(watch.start)
jit.off(watch.finish)

-- The events of one kind since the event `from`.
function watch.all(what, from)
  local list = {}
  for i = from or 1, #watch.log do
    if watch.log[i].what == what then list[#list + 1] = watch.log[i] end
  end
  return list
end

-- The line that calls it, plus an offset.
function watch.here(offset) return debug.getinfo(2, "l").currentline + (offset or 0) end

return watch
