-- Runs a program, with what it prints thrown away, and tells what the compiler made of it, in LuaJIT as in Perilune, by jit.attach:
-- numbers of root and side traces, of links by kind, and of recordings given up by reason, on one line with tabs in between.
--
-- count.lua PROGRAM [ARGUMENT]; thresholds are LuaJIT's.
jit.off(true)
jit.opt.start("hotloop=56", "hotexit=10")
local util, vmdef = require "jit.util", require "jit.vmdef"
local roots, sides, links, aborts = 0, 0, {}, {}

local is_side = false
local function handler(what, tr, func, pc, code)
  if what == "start" then
    is_side = code ~= nil -- the parent
  elseif what == "stop" then
    if is_side then sides = sides + 1 else roots = roots + 1 end
    local link = util.traceinfo(tr).linktype
    links[link] = (links[link] or 0) + 1
  elseif what == "abort" then
    -- Without the name of the bytecode or function.
    local reason = (type(code) == "number" and vmdef.traceerr[code] or tostring(code)):match("^[^%%]*"):gsub("%s+$", "")
    aborts[reason] = (aborts[reason] or 0) + 1
  end
end
jit.off(handler)

local function list(counts)
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do names[i] = name .. "=" .. counts[name] end
  return #names > 0 and table.concat(names, "; ") or "-"
end

local name, size = arg[1], arg[2]
local program = assert(loadfile(name))
arg = { [0] = name, size }
local print_, write, out = print, io.write, io.stdout
print, io.write = function() end, function() end
jit.attach(handler, "trace")
program()
jit.attach(handler)
out:write(table.concat({ roots, sides, list(links), list(aborts) }, "\t"), "\n")
