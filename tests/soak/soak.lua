-- Mixed programs in one state for a given time, with the compiler on: soak.lua MINUTES [SEED]
-- The programs are those of tests/lua/lang, tests/lua/jit and benches/programs (at their small size). In each round all of them run in
-- another order, some loaded anew and some kept from the round before, and must print what is stored beside them. After each round
-- there are full collections, and then heap, memory of the process, traces and machine code are looked at: they must be
-- bounded, and must not grow from the rounds after warming up to the last ones; nor may the time of a round.
-- Programs that have all traces thrown away (they change what traces take for a constant, or flush) run in some rounds only, so that in
-- the others traces end with their functions, or when they are too many.
-- Programs that do not print what is stored when they run so without the compiler (they look at the main chunk, the
-- command, files or the whole heap) are left out, and named.
local folder = arg[0]:match("^.*/") or "./"
package.path = folder .. "?.lua;" .. package.path
local isolate = require "isolate"
local statistics = require "statistics"
local misc = require "misc"
local counters = require "jit.util".counters
local MINUTES, SEED = tonumber(arg[1]), tonumber(arg[2]) or os.time()
if not MINUTES then
  io.stderr:write("usage: soak.lua MINUTES [SEED]\n")
  os.exit(2)
end
-- Rounds until everything is compiled that will be: so many, and this part of all.
local WARM, WARM_PART = 3, 0.2
-- One round in so many has the programs that have all traces thrown away.
local FLUSHING = 10
-- A program that takes longer (seconds, without the compiler) would be most of a round.
local LONGEST = 4
-- As many traces as there may be by default.
local MOST_TRACES = 8000
-- What may grow from the first third of the warm rounds to the last, by a factor and so much besides; the most that there may be.
local LIMITS = {
  { name = "heap", unit = "KB", factor = 1.1, more = 1024 },
  { name = "process", unit = "KB", factor = 1.15, more = 32768 },
  -- Up and down, as all of them are flushed when they are too many, or by a program.
  { name = "traces", unit = "", most = MOST_TRACES },
  { name = "code", unit = "KB", most = 32768 },
  { name = "time", unit = "s", factor = 1.5, more = 0.5 },
}
-- What `perilune -x` lists, as it is by default; in each run one of these is set besides.
local DEFAULTS = { "3", "maxtrace=8000", "maxrecord=4000", "maxirconst=500", "maxside=100", "maxsnap=500", "minstitch=0", "tryside=4",
  "instunroll=4", "loopunroll=15", "callunroll=3", "recunroll=2", "sizemcode=64", "maxmcode=32768" }
local MODES = { { "hotloop=150", "hotexit=15", "budget=1" }, { "hotloop=56", "hotexit=10", "budget=0" }, { "hotloop=2", "hotexit=2", "budget=0", "hottree=20" } }
-- Programs that cannot be run again and again.
local LEFT_OUT = { ["lang/os_library"] = "wants a young process" }
local failed = false

local function report(...)
  io.write(string.format(...), "\n")
  io.flush()
end

local function fail(...)
  failed = true
  report("FAILED " .. (...), select(2, ...))
end

local function contents(name)
  local file = io.open(name, "rb")
  local text = file and file:read("*a")
  if file then file:close() end
  return text
end

local function programs()
  local list = {}
  local function add(under, expected_of)
    local listing = io.popen("ls " .. folder .. under .. "/*.lua")
    for file in listing:lines() do
      local name = file:match("([^/]*)%.lua$")
      local text = assert(contents(file))
      local expected = contents(expected_of(name))
      if expected and not LEFT_OUT[under:match("[^/]*$") .. "/" .. name] then
        list[#list + 1] = { name = under:match("[^/]*$") .. "/" .. name, chunk = "@" .. name .. ".lua", text = text,
          expected = expected, argument = text:match("\n%-%- small: (%S+)") or text:match("^%-%- small: (%S+)") }
      end
    end
    listing:close()
  end
  for _, under in ipairs { "../lua/lang", "../lua/jit" } do add(under, function(name) return folder .. under .. "/" .. name .. ".out" end) end
  add("../../benches/programs", function(name) return folder .. "../../benches/expected/" .. name .. ".txt" end)
  return list
end

local function run(program)
  if not program.f or math.random(3) == 1 then program.f = assert(load(program.text, program.chunk)) end
  local mode, from, before = MODES[math.random(#MODES)], math.random(2 ^ 30), counters(true)
  isolate.options = { unpack(DEFAULTS) }
  for _, option in ipairs(mode) do table.insert(isolate.options, option) end
  local printed, ok, problem = isolate.run(program.f, program.argument)
  math.randomseed(from)
  if counters(true).flushed > before.flushed and before.alive < MOST_TRACES / 2 then program.flushes = true end
  return ok and printed == program.expected, printed, problem
end

-- The programs that can run in this way.
local function usable(all)
  local list, out = {}, {}
  for _, program in ipairs(all) do
    local good = true
    for _ = 1, 2 do
      local start = os.clock()
      jit.off()
      good = good and run(program) and os.clock() - start < LONGEST
      program.f = nil
    end
    table.insert(good and list or out, good and program or program.name)
  end
  return list, out
end

local function memory_of_process()
  return tonumber((contents("/proc/self/status") or "VmRSS: 0 kB"):match("VmRSS:%s*(%d+)"))
end

local function differs(program, printed, problem)
  local line = 1
  local expected, got = program.expected:gmatch("[^\n]*\n?"), printed:gmatch("[^\n]*\n?")
  while true do
    local e, g = expected(), got()
    if e ~= g or not e then
      return fail("%s prints something else: line %d is %q, not %q (error: %s)", program.name, line, tostring(g), tostring(e), tostring(problem))
    end
    line = line + 1
  end
end

local function round(list, flushing)
  isolate.flushing = flushing
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  local start = os.clock()
  for _, program in ipairs(list) do
    if flushing or not program.flushes then
      jit.on()
      local good, printed, problem = run(program)
      if not good then differs(program, printed, problem) end
    end
  end
  local time = os.clock() - start
  for _ = 1, 3 do collectgarbage() end
  local metrics = misc.getmetrics()
  local counts = counters(true)
  return { heap = collectgarbage("count"), process = memory_of_process(), traces = metrics.jit_trace_num, time = time,
    code = metrics.jit_mcode_size / 1024, started = counts.started, made = counts.closed, collected = counts.collected,
    flushed = counts.flushed }
end

local function judge(rounds)
  local warm = math.max(WARM, math.floor(#rounds * WARM_PART))
  for _, limit in ipairs(LIMITS) do
    local series = {}
    for i = warm + 1, #rounds do series[#series + 1] = rounds[i][limit.name] end
    local first, last = statistics.ends(series)
    report("%-8s %10.1f at first, %10.1f at last, %+.3f %s a round", limit.name, first, last, statistics.slope(series), limit.unit)
    if limit.factor and last > first * limit.factor + limit.more then fail("%s grows", limit.name) end
    for i, value in ipairs(series) do
      if limit.most and value > limit.most then return fail("%s is %g after round %d, more than %g", limit.name, value, i + warm, limit.most) end
    end
  end
end

math.randomseed(SEED)
local list, out = usable(programs())
report("seed %d, %d programs; left out: %s", SEED, #list, table.concat(out, " "))
if #list < 120 then fail("only %d programs can run", #list) end
local rounds = {}
local stop = os.time() + MINUTES * 60
repeat
  local r = round(list, #rounds % FLUSHING == 0)
  rounds[#rounds + 1] = r
  report("round %d: heap %.0f KB, process %d KB, %d traces, %d KB of code, %.2f s; of %d recordings %d traces, %d of which ended with their "
    .. "function, flushed %d times", #rounds, r.heap, r.process, r.traces, r.code, r.time, r.started, r.made, r.collected, r.flushed)
until os.time() >= stop and #rounds >= WARM + 3
judge(rounds)
report("%d rounds, %d runs of programs: %s", #rounds, #rounds * #list, failed and "FAILED" or "ok")
os.exit(failed and 1 or 0)
