-- The prototypes that the parser makes, children first.
local watch = require "watch"
local util = require "jit.util"
jit.off(true)

watch.start()
local chunk = loadstring([[
local function outer()
  local function first() return 1 end
  local function second()
    return function() return 2 end
  end
  return first, second
end
return outer
]], "=text")
watch.finish()
local protos = watch.protos

local lines = {}
for i, p in ipairs(protos) do lines[i] = util.funcinfo(p).linedefined end
assert(table.concat(lines, " ") == "2 4 3 1 0", table.concat(lines, " "))

for i, p in ipairs(protos) do
  local info = util.funcinfo(p)
  assert(tostring(p):match "^proto: 0x%x+$" and info.proto == p and info.source == "=text")
  assert(info.loc == "text:" .. info.linedefined and info.currentline == info.linedefined)
  assert(info.children == (info.linedefined == 0 or info.linedefined == 1 or info.linedefined == 3))
  assert(util.funcbc(p, 0) and util.funcbc(p, info.bytecodes - 1) and util.funcbc(p, info.bytecodes) == nil)
  assert(util.funcinfo(p, info.bytecodes).currentline == nil)
  -- Constants that are prototypes have been told of before.
  local k, n = -1, 0
  while true do
    local constant = util.funck(p, k)
    if not constant then break end
    if type(constant) == "proto" then
      n = n + 1
      local before
      for j = 1, i - 1 do before = before or protos[j] == constant end
      assert(before, "a parent before its child")
    end
    k = k - 1
  end
  assert((n > 0) == info.children)
end

-- They are those of the functions.
assert(util.funcinfo(chunk).proto == protos[#protos])
local outer = chunk()
assert(util.funcinfo(outer).proto == protos[4])
local first, second = outer()
assert(util.funcinfo(first).proto == protos[1] and util.funcinfo(second()).proto == protos[2])

-- Text that is wrong makes no main prototype, and no event is left out afterwards.
local n = #protos
watch.start()
assert(loadstring "local function f() end x x" == nil)
assert(loadstring "return 1")
watch.finish()
assert(util.funcinfo(protos[#protos]).source == "return 1")
assert(#protos <= n + 2)
print "ok"
