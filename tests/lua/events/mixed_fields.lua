-- Where one field of a function turns out to hold integers and other numbers, the others are expected to: the loop is recorded again
-- once, not once for each of them.
local vmdef = require("jit.vmdef")

local function sum(o)
  return o.a + o.b + o.c + o.d + o.e + o.f
end

local retries, loops = 0, 0
local function told(what, _, _, _, code)
  if what == "abort" and vmdef.traceerr[code] == "retry recording" then
    retries = retries + 1
  elseif what == "stop" then
    loops = loops + 1
  end
end

local function run(o, n)
  local total = 0
  for _ = 1, n do total = total + sum(o) end
  return total
end

jit.attach(told, "trace")
local object = { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6 }
assert(run(object, 2000) == 42000)
assert(loops > 0, "nothing was compiled")
for _, name in ipairs { "a", "b", "c", "d", "e", "f" } do
  object[name] = object[name] + 0.5
  assert(run(object, 2000) == 42000 + 1000)
  object[name] = object[name] - 0.5
end
jit.attach(told)
assert(retries == 1, "recorded again " .. retries .. " times")
print("ok")
