-- A finalizer switches nothing.
local messages = {}
for _, name in ipairs { "on", "off", "flush" } do
  local u = newproxy(true)
  getmetatable(u).__gc = function()
    local _, message = pcall(function() jit[name]() end)
    messages[#messages + 1] = message
  end
end
collectgarbage()
collectgarbage()
assert(#messages == 3)
for _, message in ipairs(messages) do assert(message:match "bad action while in __gc metamethod$", message) end
assert(jit.status() == true)
print "ok"
