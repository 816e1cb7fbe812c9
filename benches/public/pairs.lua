-- How often pairs of bytecodes stand one behind the other in what is interpreted, over the programs of a manifest:
--
--     perilune benches/public/pairs.lua FOLDER [MANIFEST]
--
-- FOLDER has the checkouts. Each program is run once by the same command with `-joff -jops`; the table for docs/performance.md is printed.
local folder, manifest = arg[1], arg[2] or "open"
local here = arg[0]:match("^(.*)/") or "."
local command
do
  local n = -1
  while arg[n - 1] do n = n - 1 end
  command = arg[n]
end

local function absolute(path)
  if path:find("/", 1, true) == 1 or not path:find("/", 1, true) then return path end
  local pipe = assert(io.popen("pwd"))
  local base = pipe:read("*l")
  pipe:close()
  return base .. "/" .. path
end
command, here = absolute(command), absolute(here)

-- What a program that calls `os.exit` is to do before: to close the state, so that the counts are printed.
local closing = "local exit = os.exit; os.exit = function(code) exit(code, true) end"

-- Which share of the bytecodes that one program interprets each pair is.
local function shares(program, args, input)
  local file = os.tmpname()
  local line = ("cd '%s' && '%s' -e '%s' -joff -jops=100000,'%s' %s <'%s' >/dev/null 2>&1")
  line = line:format(program, command, closing, file, args, input)
  os.execute(line)
  local total, found, in_pairs = 0, {}, false
  for text in io.lines(file) do
    total = tonumber(text:match("^(%d+) bytecodes")) or total
    in_pairs = in_pairs or text:find("^pairs") ~= nil
    local count, first, second = text:match("^ *(%d+) +[%d.]+%%  (%S+) (%S+)$")
    if in_pairs and count then found[first .. " " .. second] = tonumber(count) / total end
  end
  os.remove(file)
  assert(total > 0, "failed: " .. line)
  return found, total
end

local sums, most, often, programs, executed = {}, {}, {}, 0, 0
for text in io.lines(here .. "/" .. manifest .. ".manifest") do
  local name, dir, args, input = (text .. "|"):match("^([^#|]-) *| *([^|]-) *| *([^|]-) *| *([^|]-) *|?$")
  if name then
    local function full(part) return (part:gsub("%$HERE", here):gsub("%$PEERS", folder)) end
    local found, total = shares(full(dir), full(args), input ~= "" and full(input) or "/dev/null")
    programs, executed = programs + 1, executed + total
    for pair, share in pairs(found) do
      sums[pair] = (sums[pair] or 0) + share
      most[pair] = math.max(most[pair] or 0, share)
      if share >= 0.005 then often[pair] = (often[pair] or 0) + 1 end
    end
    io.stderr:write(name, "\n")
  end
end

local list, all = {}, 0
for pair, sum in pairs(sums) do
  list[#list + 1] = pair
  all = all + sum
end
table.sort(list, function(a, b) return sums[a] > sums[b] end)
print(("%d programs, %.0f million bytecodes; pairs begin at %.0f %% of them"):format(programs, executed / 1e6, 100 * all / programs))
print("\n| pair | mean share, % | greatest share, % | programs with 0.5 % and more |\n|---|---:|---:|---:|")
for i = 1, math.min(#list, 30) do
  local pair = list[i]
  print(("| `%s` | %.2f | %.1f | %d |"):format(pair, 100 * sums[pair] / programs, 100 * most[pair], often[pair] or 0))
end
