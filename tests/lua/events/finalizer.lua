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

-- Errors of finalizers go to the handler of an event, once each.
local errors = {}
local function handler(e) errors[#errors + 1] = e end
jit.attach(handler, "errfin")
for i = 1, 3 do
  local u = newproxy(true)
  getmetatable(u).__gc = function() error("number " .. i, 0) end
end
collectgarbage()
collectgarbage()
jit.attach(handler)
table.sort(errors)
assert(table.concat(errors, ", ") == "number 1, number 2, number 3")
print "ok"
