-- What `jit.v` and `jit.dump` call the places of a program, and the reasons why recordings were given up.
local util = require "jit.util"
local vmdef = require "jit.vmdef"

-- Source and line of a function, or of an instruction in it; the name of a builtin; the address of one that is not in the table.
local function location(func, pc)
  local info = util.funcinfo(func, pc)
  if info.loc then return info.loc end
  if info.ffid then return vmdef.ffnames[info.ffid] end
  return info.addr and ("C:%x"):format(info.addr) or "(?)"
end

-- Why a recording was given up: a number of `traceerr` with its detail, or the error that was thrown.
local function reason(code, detail)
  if type(code) ~= "number" then return tostring(code) end
  local text = vmdef.traceerr[code]
  if type(detail) == "function" then
    detail = location(detail)
  elseif text:find("bytecode", 1, true) then
    detail = vmdef.bcnames:sub(6 * detail + 1, 6 * detail + 6)
  end
  return text:format(detail)
end

return { location = location, reason = reason }
