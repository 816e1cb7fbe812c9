-- A trace ends in front of a comparison that calls a builtin: nothing is given up for it.
local aborted = {}
local function on_trace(what, _, _, _, code)
  if what == "abort" then aborted[#aborted + 1] = code end
end
jit.off(on_trace)
local mt = { __eq = rawequal, __lt = rawequal, __le = rawequal }
local a, b = setmetatable({}, mt), setmetatable({}, mt)
local loops = {
  function(n) local s = 0 for i = 1, n do s = s + i % 3 if a == b then s = -1 end s = s + 1 end return s end,
  function(n) local s = 0 for i = 1, n do s = s + i % 3 if a < b then s = -1 end s = s + 1 end return s end,
  function(n) local s = 0 for i = 1, n do s = s + i % 3 if a <= b then s = -1 end s = s + 1 end return s end,
}
jit.attach(on_trace, "trace")
for _, loop in ipairs(loops) do
  local before = require("jit.util").counters().closed
  assert(loop(300) == 600)
  assert(require("jit.util").counters().closed > before)
end
jit.attach(on_trace)
local words = require("jit.vmdef").traceerr
assert(#aborted == 0, words[aborted[1]])
print("ok")
