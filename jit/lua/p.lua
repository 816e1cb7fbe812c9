-- Where the time goes, by samples: what `-jp` prints when the program ends. The first argument is a string of letters:
-- f the function (the default), F with its module, l the line, p modules with their path, v what the VM was doing, z the zone
-- (`jit.zone`); a number: how many frames, the innermost first, or if negative the outermost first; s each frame by its caller;
-- m and a number: the least share shown, in percent; r numbers of samples, not shares; a, A source text with shares, a part or all of
-- it; G for graphs; i and a number: milliseconds between samples. The second argument is the file to write to.
local profile = require "jit.profile"
local vmdef = require "jit.vmdef"
-- The program may change the library.
local byte, find, format, gmatch = string.byte, string.find, string.format, string.gmatch
local gsub, lower, match, rep = string.gsub, string.lower, string.match, string.rep

local STATES = { N = "Compiled", I = "Interpreted", C = "C code", G = "Garbage Collector", J = "JIT Compiler" }
local SEPARATORS = { outwards = " < ", inwards = " > " }
local CONTEXT = 3 -- Lines shown around those with samples.

-- What is being profiled: the options, and the counts.
local run

-- Reads the letters.
local function parse(letters)
  local o = { interval = "", least = 3, depth = 1 }
  local function take(pattern, set)
    letters = gsub(letters, pattern, function(text)
      set(text)
      return ""
    end)
  end
  take("i%d*", function(s) o.interval = s end)
  take("m(%d+)", function(s) o.least = tonumber(s) end)
  take("%-?%d+", function(s) o.depth = tonumber(s) end)
  for c in gmatch(letters, "%a") do o[c] = true end
  o.outermost = find(letters, "-", 1, true) ~= nil
  o.function_first = find(letters, "[fF].*l") ~= nil
  o.state_first = find(letters, "[zv].*[lfF]") ~= nil
  return o
end

-- Decides what is asked of each sample: `format` and `depth` of the stack, whether the state counts, and which comes first.
local function plan(o)
  o.second_key = o.z and "zone" or o.v and "state" or nil
  local scope = o.l and "l" or o.F and "F" or o.f and "f" or (o.second_key and "" or "f")
  local path = o.p and "p" or ""
  o.order = "stack"
  if o.s then
    o.order = "split"
    if o.depth == -1 or o.outermost then o.depth = -2 elseif o.depth == 1 then o.depth = 2 end
  elseif o.function_first then
    o.order, scope = "line", "l"
  elseif scope == "" or o.state_first then
    o.order = "state"
  end
  local shown = o.order == "line" and (o.F and "F" or "f") or scope
  if o.a or o.A then
    scope, o.format, o.order, o.depth = "l", "pl", "stack", 1
  elseif o.G and scope ~= "" then
    o.format, o.depth, o.least, o.graph = path .. scope .. "Z;", -100, 0, true
  elseif scope ~= "" then
    o.format = path .. shown .. "Z" .. (o.depth >= 0 and SEPARATORS.outwards or SEPARATORS.inwards)
  end
  o.mode = lower(scope) .. o.interval
  return o
end

local function builtin_name(id)
  return vmdef.ffnames[tonumber(id)]
end

-- Counts a sample under one key, or a key below another.
local function count(key, below, samples)
  if not key then return end
  run.first[key] = (run.first[key] or 0) + samples
  if below then
    local t = run.second[key] or {}
    run.second[key] = t
    t[below] = (t[below] or 0) + samples
  end
end

local function on_sample(thread, samples, state)
  run.samples = run.samples + samples
  local status
  if run.second_key == "zone" then
    status = require("jit.zone"):get() or "(none)"
  elseif run.second_key then
    status = STATES[state] or state
  end
  local stack, below
  if run.format then
    stack = gsub(profile.dumpstack(thread, run.format, run.depth), "%[builtin#(%d+)%]", builtin_name)
    if run.order == "split" then
      local a, b = match(stack, "(.-) [<>] (.*)")
      if a then stack, below = a, b end
    elseif run.order == "line" then
      below = profile.dumpstack(thread, "l", 1)
    end
  end
  if run.order == "state" then
    count(status, stack, samples)
  else
    count(stack, below or status, samples)
  end
end

------------------------------------------------------------------------------

-- Writes counts, the largest first, with those below each.
local function write_counts(counts, below, total, indent)
  local keys = {}
  for key in pairs(counts) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  for _, key in ipairs(keys) do
    local n = counts[key]
    local share = math.floor(n * 100 / total + 0.5)
    if share < run.least then break end
    if run.graph then
      run.out:write(format("%s %d\n", key, n))
    elseif run.r then
      run.out:write(format("%s%5d  %s\n", indent, n, key))
    else
      run.out:write(format("%s%2d%%  %s\n", indent, share, key))
    end
    local inner = below and below[key]
    if inner then
      local arrow = "  <- "
      if run.order == "line" or run.order == "state" then arrow = "  -- " elseif run.depth < 0 then arrow = "  -> " end
      write_counts(inner, nil, n, arrow)
    end
  end
end

-- The lines of each file that have enough samples: tables by file name, and the largest count.
local function lines_by_file()
  local files, names, largest = {}, {}, 0
  for key, n in pairs(run.first) do
    local share = math.floor(n * 100 / run.samples + 0.5)
    largest = math.max(largest, n)
    if share >= run.least then
      local file, line = match(key, "^(.*):(%d+)$")
      file = file or key
      if not files[file] then
        files[file] = {}
        names[#names + 1] = file
      end
      files[file][tonumber(line) or 0] = run.r and n or share
    end
  end
  table.sort(names)
  return files, names, largest
end

-- Is there a line with samples near line `n`?
local function is_near(counted, n)
  for i = n - CONTEXT, n + CONTEXT do
    if counted[i] then return true end
  end
end

local function write_source(name, counted, width)
  local with, without = " %3d%% | %s\n", "      | %s\n"
  if run.r then with, without = "%" .. width .. "d | %s\n", rep(" ", width) .. " | %s\n" end
  local file, message = io.open(name)
  if not file then
    run.out:write(format("====== ERROR: %s: %s\n", name, message))
    return
  end
  run.out:write(format("\n====== %s ======\n", name))
  local n, shown = 0, run.A
  for line in file:lines() do
    n = n + 1
    if byte(line) == 27 then
      run.out:write("[Cannot annotate bytecode file]\n")
      break
    end
    local near = run.A or is_near(counted, n)
    if near and not shown then run.out:write(format("@@ %d @@\n", n)) end
    shown = near
    if near then
      run.out:write(counted[n] and format(with, counted[n], line) or format(without, line))
    end
  end
  file:close()
end

local function write_annotated()
  local files, names, largest = lines_by_file()
  local width = math.max(5, math.ceil(math.log10(largest)))
  for _, name in ipairs(names) do
    if find(name, "^[%[(]") then
      run.out:write(format("\n====== %s ======\n[Cannot annotate non-file]\n", name))
    else
      write_source(name, files[name], width)
    end
  end
end

------------------------------------------------------------------------------

local function stop()
  if not run then return end
  profile.stop()
  if run.samples == 0 then
    if not run.graph then run.out:write("[No samples collected]\n") end
  elseif run.a or run.A then
    write_annotated()
  else
    write_counts(run.first, run.second, run.samples, "")
  end
  if run.out ~= io.stdout then run.out:close() end
  run = nil
end

local function start(letters, file)
  stop()
  file = file or os.getenv("LUAJIT_PROFILEFILE")
  run = plan(parse(letters or "f"))
  run.first, run.second, run.samples = {}, {}, 0
  run.out = (not file or file == "-") and io.stdout or assert(io.open(file, "w"))
  -- What is left at the end of the program is reported then.
  run.at_end = newproxy(true)
  getmetatable(run.at_end).__gc = stop
  profile.start(run.mode, on_sample)
end

return { start = start, stop = stop }
