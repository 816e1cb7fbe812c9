-- A heap of gigabytes: it is filled with objects of all sizes, used, and given up. What the collector and the system say about it:
--
--     perilune benches/large.lua [gigabytes]
local gigabytes = tonumber(arg[1]) or 8

-- What the process has of the system's memory, in megabytes; nil where the system does not tell.
local function resident()
  local file = io.open("/proc/self/statm")
  if not file then return end
  local pages = file:read("*a"):match("^%d+ (%d+)")
  file:close()
  return tonumber(pages) * 4 / 1024
end

local begun = os.clock()
local function report(what)
  local counted = collectgarbage("count") / 1024
  print(("%-24s %7d MB counted, %7d MB resident, %6.1f s"):format(what, counted, resident() or -1, os.clock() - begun))
  return counted
end

-- Objects with parts, strings, and arrays from a few elements to a megabyte.
local function object(i)
  local size = i % 1024 == 0 and 200000 or i % 16
  local array = {}
  for k = 1, size do array[k] = i + k end
  return { id = i, name = "object " .. i, array = array, next = { i } }
end

local before = resident()
report "at the start"
local live, n = {}, 0
while collectgarbage("count") < gigabytes * 1024 * 1024 do
  for _ = 1, 10000 do
    n = n + 1
    live[n] = object(n)
  end
end
report(n .. " objects")
local sum = 0
for i = 1, n do
  local o = live[i]
  assert(o.id == i and o.next[1] == i and #o.array == (i % 1024 == 0 and 200000 or i % 16))
  sum = sum + #o.name
end
for i = 1, n, 7 do live[i] = object(i) end
report "used and changed"
live = nil
collectgarbage()
assert(report "given up" < 64, "it is not freed")
for _ = 1, 10 do collectgarbage() end
local left = resident()
report "after ten collections"
-- Of what is left, 8 MB are the compiler's: its code, which is read when it first compiles, and its memory for a trace.
assert(not left or left - before < gigabytes * 1024 / 8 + 8, "the memory does not go back to the system")
