-- What became of the traces, when the program ends: what `-jstats` prints. The first argument is how many exits and aborts are listed
-- at most, the second the file to write to.
local util = require "jit.util"
local place = require "jit.place"
-- The program may change the library.
local format = string.format

local out
local most = 15
local at_end
-- While a handler of this event is attached, the program is compiled with LuaJIT's thresholds.
local function watch() end

-- The traces that there are: information and statistics by number.
local function traces()
  local list = {}
  local left, n = util.counters().alive, 0
  while left > 0 do
    n = n + 1
    local stats = util.tracestats(n)
    if stats then
      left = left - 1
      list[#list + 1] = { number = n, info = util.traceinfo(n), stats = stats, start = util.exitinfo(n, 0) }
    end
  end
  return list
end

local function by_count(a, b)
  return a.count > b.count
end

local function write_traces(list)
  out:write(format("%d traces\n%5s %8s %6s %7s %7s %8s  %s\n", #list, "trace", "entries", "instr", "bytes", "us", "link", "at"))
  for _, t in ipairs(list) do
    local s, link = t.stats, t.info.link
    local ending = (link == 0 or link == t.number) and t.info.linktype or "-> " .. link
    local time = s.record_us + s.optimise_us + s.lower_us
    out:write(format("%5d %8d %6d %7d %7d %8s  %s\n", t.number, s.entries, s.instructions, s.mcode, time, ending, t.start.loc or "?"))
  end
end

local function write_exits(list)
  local exits = {}
  for _, t in ipairs(list) do
    for k = 0, t.info.nexit - 1 do
      local count = t.stats.exits[k]
      if count > 0 then exits[#exits + 1] = { count = count, trace = t.number, exit = k, info = util.exitinfo(t.number, k) } end
    end
  end
  table.sort(exits, by_count)
  out:write(format("\n%d exits taken to the interpreter\n%8s %8s %8s  %s\n", #exits, "times", "exit", "goes to", "asked for"))
  for i = 1, math.min(#exits, most) do
    local e = exits[i]
    local side = e.info.link ~= 0 and "trace " .. e.info.link or ""
    out:write(format("%8d %8s %8s  %s\n", e.count, e.trace .. "/" .. e.exit, side, e.info.loc or ""))
    for _, g in ipairs(e.info.guards) do
      out:write(format("%26s  %s %s: %s\n", "", g.loc or "", g.bytecode or "", g.condition))
    end
  end
end

local function write_aborts()
  local aborts = util.aborts()
  out:write(format("\n%d places where recording was given up\n", #aborts))
  for i = 1, math.min(#aborts, most) do
    local a = aborts[i]
    out:write(format("%8d  %s %s: %s\n", a.count, a.loc, a.bytecode, a.reason))
  end
end

local function stop()
  if not at_end then return end
  at_end = nil
  jit.attach(watch)
  local list = traces()
  write_traces(list)
  write_exits(list)
  write_aborts()
  local why = place.nothing_compiled()
  if why then out:write("\n", why, "\n") end
  if out ~= io.stdout then out:close() end
end

local function start(number, file)
  if number then most = assert(tonumber(number), "a number of lines expected") end
  out = (not file or file == "-") and io.stdout or assert(io.open(file, "w"))
  jit.attach(watch, "watch")
  at_end = place.at_end(stop)
end

return { start = start, stop = stop }
