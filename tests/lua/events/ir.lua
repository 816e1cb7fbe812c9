-- For other programs here: the IR of traces, by the names of its instructions.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
local ir = {}

-- The name of instruction `ref` of a trace.
function ir.op(trace, ref)
  local _, ot = util.traceir(trace, ref)
  local op = math.floor(ot / 256)
  return (vmdef.irnames:sub(op * 6 + 1, op * 6 + 6):gsub(" ", ""))
end
-- Is it a guard?
function ir.is_guard(trace, ref)
  local _, ot = util.traceir(trace, ref)
  return ot % 256 >= 128
end
-- How often an instruction stands in a trace; in its loop alone, or as a guard alone, if asked for.
function ir.count(trace, wanted, in_loop, guards)
  local n, counts = 0, not in_loop
  for ref = 1, util.traceinfo(trace).nins do
    local op = ir.op(trace, ref)
    counts = counts or op == "LOOP"
    if counts and op == wanted and (not guards or ir.is_guard(trace, ref)) then n = n + 1 end
  end
  return n
end
-- The number of the newest trace.
function ir.newest()
  local trace = 0
  while util.traceinfo(trace + 1) do trace = trace + 1 end
  return trace
end

for _, f in pairs(ir) do jit.off(f) end
return ir
