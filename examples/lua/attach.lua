-- Prints what the compiler does while a function runs: a handler of the event "trace".
--
--     perilune examples/lua/attach.lua
local util = require "jit.util"
local vmdef = require "jit.vmdef"

local function position(func, pc)
  local info = util.funcinfo(func, pc)
  return info.loc or ("builtin " .. tostring(info.addr))
end

local started = {}
local function on_trace(what, number, func, pc, parent_or_code, exit_or_detail)
  if what == "start" then
    started[number] = position(func, pc)
    if parent_or_code then
      started[number] = ("%s, after exit %s of trace %d"):format(started[number], exit_or_detail, parent_or_code)
    end
  elseif what == "stop" then
    local info = util.traceinfo(number)
    local link = info.linktype == "root" and "continues in trace " .. info.link or info.linktype
    print(("trace %d: starts at %s, %d instructions, %s"):format(number, started[number], info.nins, link))
  elseif what == "abort" then
    -- The message has a place for the detail: a bytecode or a function.
    local reason = vmdef.traceerr[parent_or_code]:format(exit_or_detail)
    print(("no trace: starts at %s, given up at %s: %s"):format(started[number], position(func, pc), reason))
  elseif what == "flush" then
    print("all traces are thrown away")
  end
end

local function work(n)
  local sum = 0
  for i = 1, n do
    if i % 3 == 0 then sum = sum - i else sum = sum + i end
  end
  return sum
end

jit.attach(on_trace, "trace")
local sum = work(1000)
jit.attach(on_trace)
print("sum " .. sum)
