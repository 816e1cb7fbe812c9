-- A server that keeps every reply for ever. docs/memory.md finds out where and why.
--
--     perilune memprof record --lines -o leak.memprof examples/lua/leak.lua
--     perilune heap snapshot -o leak.heapsnapshot examples/lua/leak.lua
server = { cache = {} }

local function handle(request)
  local reply = "reply to " .. request
  server.cache[#server.cache + 1] = { request = request, reply = reply, at = #server.cache }
  return reply
end

for i = 1, 100000 do
  handle("request " .. i)
end
collectgarbage()
print(("%.0f MB after %d requests"):format(collectgarbage("count") / 1024, #server.cache))
