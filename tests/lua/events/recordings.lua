-- For other programs here: counts recordings that are given up to be begun again, and traces, from start to stop.
local vmdef = require "jit.vmdef"
local recordings = { retries = 0, stops = 0 }

local function told(what, _, _, _, code)
  if what == "abort" and vmdef.traceerr[code] == "retry recording" then
    recordings.retries = recordings.retries + 1
  elseif what == "stop" then
    recordings.stops = recordings.stops + 1
  end
end
jit.off(told)

function recordings.start()
  recordings.retries, recordings.stops = 0, 0
  jit.attach(told, "trace")
end
function recordings.stop() jit.attach(told) end
return recordings
