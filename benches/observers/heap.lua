-- A heap of five million objects is dumped: how long that takes, and how much more memory than before.
local misc = require "misc"
local file = ...
local function memory(what)
  for line in io.lines "/proc/self/status" do
    local n = line:match(what .. ":%s*(%d+)")
    if n then return tonumber(n) / 1000 end
  end
end
-- The most memory that is in use is counted anew from here on.
local function forget()
  local f = assert(io.open("/proc/self/clear_refs", "w"))
  f:write "5"
  f:close()
end
keep = {}
for i = 1, 1250000 do keep[i] = { { i }, { name = i }, "s" .. i } end
collectgarbage()
local heap = collectgarbage "count" / 1000
local bad = 0
for _, f in ipairs { "heapdump", "heapsnapshot" } do
  forget()
  local before, t = memory "VmRSS", os.clock()
  assert(misc[f](file))
  t = os.clock() - t
  local more = memory "VmHWM" - before
  print(("%s: %d objects, %.0f MB: %.1f s, %.1f MB more (%.1f%%)"):format(f, 5e6, heap, t, more, more / heap * 100))
  if t > 10 or more > heap / 10 then bad = 1 end
end
os.exit(bad)
