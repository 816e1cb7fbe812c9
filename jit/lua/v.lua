-- A line for each trace: what `-jv` prints.
local util = require "jit.util"
local place = require "jit.place"
-- The program may change the library.
local format = string.format
local location, reason = place.location, place.reason
local out = io.stderr
local active = false
local at_end
local start_text

-- What a finished trace leads to. For a trace that ends before a call, it names the function that is called.
local function ending(number, func, pc)
  local info = util.traceinfo(number)
  local link, kind = info.link, info.linktype
  if kind == "interpreter" then return " -- fallback to interpreter" end
  if kind == "stitch" then return " stitch " .. location(func, pc) end
  if kind == "root" then return " -> " .. link end
  if link == number or link == 0 then return " " .. kind end
  return " -> " .. link .. " " .. kind
end

local function trace(what, number, func, pc, other, detail)
  if what == "start" then
    local at = location(func, pc)
    local from = other and format("(%d/%s) ", other, detail == -1 and "stitch" or detail) or ""
    start_text = { from = from, at = at }
  elseif what == "abort" then
    local at = location(func, pc)
    local where = at ~= start_text.at and " at " .. at or ""
    out:write(format("[TRACE --- %s%s -- %s%s]\n", start_text.from, start_text.at, reason(other, detail), where))
  elseif what == "stop" then
    out:write(format("[TRACE %3d %s%s%s]\n", number, start_text.from, start_text.at, ending(number, func, pc)))
  else
    out:write(format("[TRACE %s]\n", what))
  end
  out:flush()
end

local function off()
  if not active then return end
  active = false
  at_end = nil
  jit.attach(trace)
  if out ~= io.stdout and out ~= io.stderr then out:close() end
  out = io.stderr
end

local function on(file)
  off()
  file = file or os.getenv("LUAJIT_VERBOSEFILE")
  if file then
    out = file == "-" and io.stdout or assert(io.open(file, "w"))
  end
  start_text = { from = "", at = "(?)" }
  jit.attach(trace, "trace")
  active = true
  at_end = place.explain_at_end(function() return active and out end, "[%s]\n")
end

return { on = on, off = off, start = on }
