-- A line for each trace: what `-jv` prints.
local util = require "jit.util"
local out = io.stderr
local active = false
local start_text = ""

local function location(func, pc)
  local info = util.funcinfo(func, pc)
  if info.loc then return info.loc end
  if info.ffid then return "[builtin#" .. info.ffid .. "]" end
  return "(?)"
end

local function reason(code, info)
  if type(code) ~= "number" then return tostring(code) end
  local names = require "jit.vmdef"
  local text = names and names.traceerr and names.traceerr[code] or "error " .. code
  if type(info) == "function" then info = location(info) end
  return (text:gsub("%%[%a]", function() return tostring(info) end))
end

local function trace(what, number, func, pc, other, extra)
  if what == "start" then
    start_text = location(func, pc)
    if other then
      start_text = "(" .. other .. "/" .. (extra == -1 and "stitch" or tostring(extra)) .. ") " .. start_text
    end
    return
  end
  if what == "abort" then
    local at = func and location(func, pc)
    local where = at and at ~= start_text and " at " .. at or ""
    out:write(("[TRACE --- %s -- %s%s]\n"):format(start_text, reason(other, extra), where))
  elseif what == "stop" then
    local info = util.traceinfo(number) or {}
    local link, kind = info.link or 0, info.linktype or "?"
    local ending
    if kind == "root" or kind == "none" and link ~= 0 then
      ending = " -> " .. link
    elseif link == number or link == 0 then
      ending = " " .. kind
    else
      ending = " -> " .. link .. " " .. kind
    end
    out:write(("[TRACE %3d %s%s]\n"):format(number, start_text, ending))
  else
    out:write(("[TRACE %s]\n"):format(what))
  end
  out:flush()
end

local function off()
  if not active then return end
  active = false
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
  jit.attach(trace, "trace")
  active = true
end

return { on = on, off = off, start = on }
