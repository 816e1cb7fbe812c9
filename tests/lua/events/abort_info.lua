-- With "NYI: bytecode %s" comes the number of the bytecode, wherever recording failed.
local vmdef = require "jit.vmdef"
local missing
jit.attach(function(what, _, _, _, code, info)
  if what == "abort" and code == 7 and not (type(info) == "number" and info * 6 < #vmdef.bcnames) then missing = true end
end, "trace")
local t = setmetatable({}, { __index = function(_, k) return k * 2 end, __call = function(_, x) return x end })
local s = 0
for i = 1, 200 do s = s + t[i] + t(i) end
local co = coroutine.wrap(function()
  for i = 1, 200 do
    local f = coroutine.wrap(function() coroutine.yield(i) end)
    f()
  end
end)
co()
assert(not missing, "no bytecode was told")
print "ok"
