-- What `jit.v`, `jit.dump` and `jit.stats` have in common: names of places, reasons why recordings were given up, and why nothing was compiled.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
-- The program may change the library.
local find, format, sub = string.find, string.format, string.sub

-- Source and line of a function, or of an instruction in it; the name of a builtin; the address of one that is not in the table.
local function location(func, pc)
  local info = util.funcinfo(func, pc)
  if info.loc then return info.loc end
  if info.ffid then return vmdef.ffnames[info.ffid] end
  return info.addr and format("C:%x", info.addr) or "(?)"
end

-- Why a recording was given up: a number of `traceerr` with its detail, or the error that was thrown.
local function reason(code, detail)
  if type(code) ~= "number" then return tostring(code) end
  local text = vmdef.traceerr[code]
  if type(detail) == "function" then
    detail = location(detail)
  elseif find(text, "bytecode", 1, true) then
    detail = sub(vmdef.bcnames, 6 * detail + 1, 6 * detail + 6)
  end
  return format(text, detail)
end

-- Why nothing was compiled and what would change that, when nothing was.
local function nothing_compiled()
  local counts = util.counters(true)
  if counts.closed > 0 then return nil end
  if not jit.status() then return "nothing was compiled: the compiler is off (jit.off or -joff)" end
  if counts.aborted > 0 then
    return format("nothing was compiled: %d recordings were given up", counts.aborted)
  end
  return "nothing was compiled: no loop and no function ran often enough; -Ohotloop=2 compiles a loop in its second round"
end

-- Calls a function when the program ends; the result must be kept until then.
local function at_end(f)
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = f
  return proxy
end

-- Writes at the end why nothing was compiled, in a form, to the file that `output` returns, if it returns one; the result must be kept until then.
local function explain_at_end(output, form)
  return at_end(function()
    local file = output()
    local why = file and nothing_compiled()
    if why then
      file:write(format(form, why))
      file:flush()
    end
  end)
end

return {
  location = location, reason = reason, nothing_compiled = nothing_compiled, at_end = at_end, explain_at_end = explain_at_end,
}
