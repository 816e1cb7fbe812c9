-- Which bytecodes are interpreted, and which pairs of them stand one behind the other: what `-jops` prints when the program ends. The first
-- argument is how many pairs are listed at most, the second the file to write to.
local util = require "jit.util"
local place = require "jit.place"
-- The program may change the library.
local format = string.format

local out
local most = 15
local at_end

local function write_most(counts, total)
  local list = {}
  for name, count in pairs(counts) do list[#list + 1] = { name = name, count = count } end
  table.sort(list, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    return a.name < b.name
  end)
  for i = 1, math.min(#list, most) do
    local e = list[i]
    out:write(format("%12d %6.2f%%  %s\n", e.count, 100 * e.count / total, e.name))
  end
end

local function stop()
  if not at_end then return end
  at_end = nil
  local single, both = util.bytecounts(false)
  local total = 0
  for _, count in pairs(single) do total = total + count end
  out:write(format("%d bytecodes were interpreted\n", total))
  write_most(single, total)
  out:write("\npairs, one behind the other in the code\n")
  write_most(both, total)
  if out ~= io.stdout then out:close() end
end

local function start(number, file)
  if number then most = assert(tonumber(number), "a number of lines expected") end
  out = (not file or file == "-") and io.stdout or assert(io.open(file, "w"))
  at_end = place.at_end(stop)
  util.bytecounts(true)
end

return { start = start, stop = stop }
