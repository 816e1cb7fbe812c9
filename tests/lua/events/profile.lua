-- jit.profile: samples, and the stack as text.
local profile = require "jit.profile"
local util = require "jit.util"
assert(rawget(jit, "profile") == nil and package.loaded["jit.profile"] == profile)
local with_compiler = jit.status()

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and message:gsub("^profile%.lua:%d+: ", "") == text, message)
end

-- Wrong arguments.
fails("bad argument #2 to '?' (function expected, got no value)", profile.start, "f")
fails("bad argument #2 to '?' (function expected, got number)", profile.start, "f", 1)
fails("bad argument #1 to '?' (string expected, got table)", profile.start, {}, print)
fails("bad argument #1 to '?' (string expected, got no value)", profile.dumpstack)
fails("bad argument #2 to '?' (number expected, got no value)", profile.dumpstack, "l")
fails("bad argument #3 to '?' (number expected, got nil)", profile.dumpstack, coroutine.create(print), "l", nil)
assert(select("#", profile.stop()) == 0 and select("#", profile.stop()) == 0)

-- Works for some samples.
local function busy(n)
  local s = 0
  for i = 1, n do s = s + i % 7 end
  return s
end
local function work(enough)
  local start = os.clock()
  repeat busy(20000) until enough() or os.clock() - start > 20
  assert(enough(), "no samples come")
end

-- What the function gets: the coroutine, a count, a letter.
local function count(mode, wanted)
  local letters, total, calls = {}, 0, 0
  profile.start(mode, function(...)
    local thread, samples, letter = ...
    assert(select("#", ...) == 3 and type(thread) == "thread")
    assert(type(samples) == "number" and samples >= 1 and samples % 1 == 0)
    assert(#letter == 1 and ("NICGJ"):find(letter, 1, true))
    assert(coroutine.running() ~= thread and coroutine.status(thread) ~= "suspended")
    letters[letter] = (letters[letter] or 0) + samples
    total, calls = total + samples, calls + 1
  end)
  work(function() return total >= wanted end)
  profile.stop()
  local before = calls
  busy(1e5)
  assert(calls == before, "samples after the end")
  return letters, total, calls
end
for _, mode in ipairs { "f", "l", "fi1", "li2", "xfi1y", "i1f" } do count(mode, 3) end
local letters, total, calls = count("fi1", 30)
assert(calls <= total)
if with_compiler then
  assert((letters.N or 0) > total / 2, "compiled code is left for samples")
else
  assert((letters.I or 0) > total / 2)
end
do -- nil is no mode.
  local n = 0
  profile.start(nil, function() n = n + 1 end)
  work(function() return n > 0 end)
  profile.stop()
end

-- Builtins, the collector.
local function letters_of(f)
  local letters = {}
  profile.start("i1", function(_, samples, letter) letters[letter] = (letters[letter] or 0) + samples end)
  local start = os.clock()
  while os.clock() - start < 0.1 do f() end
  profile.stop()
  return letters
end
local text = ("x"):rep(20000)
local all = letters_of(function() text:find("y.-z") end)
assert((all.C or all.N or 0) > 0)
local garbage = {}
for i = 1, 20000 do garbage[i] = { i } end
assert((letters_of(function() collectgarbage() end).G or 0) > 0, "the collector has a letter")
garbage = nil

-- With f or l all traces go at the start and at the end; with an interval only they stay.
if with_compiler then
  local flushes = 0
  local function on_flush(what) if what == "flush" then flushes = flushes + 1 end end
  jit.attach(on_flush, "trace")
  profile.start("f", print)
  assert(flushes == 1)
  profile.stop()
  assert(flushes == 2)
  busy(10000)
  assert(util.traceinfo(1))
  profile.start("i10000", print)
  assert(flushes == 2 and util.traceinfo(1))
  jit.attach(on_flush)
  profile.stop()
  jit.flush()
  -- Guards for samples are in loops of traces made meanwhile, and only there; not in loops that count, whether by `for` or by
  -- `while`, and are not long.
  local vmdef = require "jit.vmdef"
  local function spin(n)
    while n ~= 0 do n = n - 1 end
  end
  local function down(n)
    while n > 0 do n = n - 1 end
  end
  local function both(n)
    local i = 0
    while i < n do i, n = i + 1, n - 1 end
  end
  local function long(n)
    local i = 0
    while i <= 1e12 do
      i = i + 1
      if i == n then break end
    end
  end
  local function away(n)
    local i = 0
    while i < 5 do
      i = i - 1
      if i == -n then break end
    end
  end
  local function still(n)
    local i, k = 0, 5
    while k < 10 do
      i = i + 1
      if i == n then break end
    end
  end
  local function has_prof(f)
    jit.flush()
    f(10000)
    local found = false
    for i = 1, util.traceinfo(1).nins do
      local _, ot = util.traceir(1, i)
      local at = 6 * bit.rshift(ot, 8)
      found = found or vmdef.irnames:sub(at + 1, at + 6) == "PROF  "
    end
    return found
  end
  -- The command has it for Ctrl-C.
  assert(has_prof(spin))
  profile.start("f", function() end)
  assert(has_prof(spin))
  profile.start("l", function() end)
  assert(has_prof(spin))
  profile.start("f", function() end)
  local function few()
    local x = 0
    for i = 1, 100 do x = x + i end
  end
  -- What is short now may be long the next time, unless its bounds are constants.
  assert(has_prof(busy) and has_prof(down) and has_prof(both) and not has_prof(few))
  assert(has_prof(long) and has_prof(away) and has_prof(still))
  profile.stop()
  assert(has_prof(spin) and has_prof(busy) and not has_prof(few))
end

-- The callback gets a sample soon after it was taken, wherever compiled code loops: in a loop, by calls, by tail calls. What a trace has inlined has its share
-- (not in the evaluator, whose traces have no addresses).
busy(10000)
if not with_compiler or util.tracemc(1) then
  local names, calls
  local function on_sample(thread, samples)
    calls = calls + 1
    local stack = profile.dumpstack(thread, "f<", 3)
    names[stack] = (names[stack] or 0) + samples
  end
  -- Calls `f`, with `warm` after a call that is not counted, since it is compiled anew for samples. `f` must run for several ticks of the system's clock (4 ms or more), until it is interrupted several times in one call; the share of samples with the pattern.
  local function share(mode, pattern, f, warm)
    names, calls = {}, 0
    profile.start(mode, on_sample)
    if warm then
      f()
      names, calls = {}, 0
    end
    local start, most = os.clock(), 0
    repeat
      local before = calls
      f()
      most = math.max(most, calls - before)
    until most >= 3 and calls >= 20 or os.clock() - start > 20
    profile.stop()
    assert(most >= 3, "samples come late")
    local all, found = 0, 0
    for stack, n in pairs(names) do
      all = all + n
      if stack:find(pattern) then found = found + n end
    end
    return found / all
  end
  local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
  assert(share("fi1", "^fib<fib<fib<", function() fib(35) end) > 0.8)
  local function down(k) if k > 0 then return down(k - 1) end end
  assert(share("fi1", "^down<", function() down(1e8) end) > 0.8)
  local function leaf(x) return (x * 16807 + 12345) % 2147483647 % 65537 % 4099 end
  local function middle(x) local y = leaf(leaf(x)) return y + 1 end
  local function inlined()
    local s = 0
    for i = 1, 1e6 do s = s + middle(i) end
    return s
  end
  local found = share("fi1", "^leaf<middle<f<", inlined, true)
  local function listed()
    local lines = { ("%.2f of these:"):format(found) }
    for stack, n in pairs(names) do lines[#lines + 1] = n .. " " .. stack end
    return table.concat(lines, "\n")
  end
  assert(found > 0.3, listed())
  assert(share("li1", "^middle<f<", inlined, true) + found > 0.4)
end

-- Loops that are left for samples and entered again compute the same.
do
  local function leaf(x) return (x * 16807 + 12345) % 2147483647 % 65537 end
  local last
  local loops = {
    function(n) local s = 0 for i = 1, n do s = s + leaf(i) last = i end return s end,
    function(n) local s = 0 for i = n, 1, -1 do s = s + leaf(i) last = i end return s end,
    function(n) local s = 0.5 for i = -n, n, 3 do s = s + i % 7 last = i end return s end,
    function(n, step) local s = 0 for i = 1, n, step do s = s + leaf(i) last = i end return s end,
    function(n) local t, s = {}, 0 for i = 1, n do local k = i % 100 + 1 t[k] = (t[k] or 0) + i s = s + t[k] % 5 last = i end return s end,
    function(n) local s, old = 0, 0 for i = 1, n do s = s + (i - old) old = i last = old end return s + old end,
  }
  local function results(n)
    local all = {}
    for i, f in ipairs(loops) do
      local s = f(n, 2)
      all[i] = s .. " " .. last
    end
    return table.concat(all, ", ")
  end
  local n = with_compiler and util.tracemc(1) and 2000000 or 200000
  local expected = results(n)
  local calls = 0
  profile.start("fi1", function() calls = calls + 1 end)
  for _ = 1, 3 do
    local got = results(n)
    assert(got == expected, got)
  end
  profile.stop()
  assert(calls > 1, calls)
end

-- The stack as text.
local function stack(format, depth) local s = profile.dumpstack(format, depth) return s end
local function outer(...) local s = stack(...) return s end
local here = util.funcinfo(outer).linedefined
assert(outer("l", 0) == "")
local id = util.funcinfo(profile.dumpstack).ffid
assert(require("jit.vmdef").ffnames[id] == "jit.profile.dumpstack")
assert(outer("l;", 3) == ("[builtin#%d];profile.lua:%d;profile.lua:%d;"):format(id, here - 1, here))
assert(outer("fZ < ", 3) == "dumpstack < stack < outer")
assert(outer("FZ < ", 3) == "dumpstack < profile.lua:stack < profile.lua:outer")
assert(outer("lZ < ", 3):sub(-3) ~= " < " and outer("l < ", 3):sub(-3) == " < ")
local whole = outer("l|", 100)
assert(outer("l|", 2) == whole:match "^[^|]*|[^|]*|", "the innermost first")
local reversed = outer("l|", -2)
assert(reversed == whole:match "^[^|]*|([^|]*|)" .. whole:match "^[^|]*|", "the outermost of them first")
assert(outer("pl|", 3):find("profile.lua", 1, true))
-- Names of functions, of modules, of what has no name.
local chunk = assert(loadstring("local d = ... local function named(...) return (d(...)) end return (named(select(2, ...)))", "=mod/file"))
local function dumped(format, depth) return (chunk(profile.dumpstack, format, depth)) end
assert(dumped("f,", 2) == "d,named,")
assert(dumped("F,", 2) == "d,file:named,")
assert(dumped("pF,", 2) == "d,mod/file:named,")
local of_text = assert(loadstring("local d = ... return (d('l,', 2))"))
assert(of_text(profile.dumpstack) == ("[builtin#%d],[string]:1,"):format(id))
-- Another coroutine; one that has not begun, one that has ended.
local co = coroutine.create(function(x) coroutine.yield(x) end)
assert(profile.dumpstack(co, "l;", 5) == "")
coroutine.resume(co)
assert(profile.dumpstack(co, "l;", 5):match "^%[builtin#%d+%];profile.lua:%d+;$")
coroutine.resume(co)
assert(profile.dumpstack(co, "l;", 5) == "")

-- The callback gets a sample of a coroutine with that coroutine, whose stack is unchanged.
do
  local seen, top
  local co
  co = coroutine.wrap(function()
    local me = coroutine.running()
    profile.start("fi1", function(thread)
      seen = seen or thread == me
      top = profile.dumpstack(thread, "l", 1)
      assert(debug.getinfo(thread, 0, "S").what ~= "C")
    end)
    work(function() return seen end)
    profile.stop()
  end)
  co()
  assert(seen and top:match "^profile.lua:%d+$", top)
end

-- The function may do anything: collect, flush, start and stop itself, run a hot loop, go away.
local function during(mode, f)
  local n = 0
  profile.start(mode, function(...)
    n = n + 1
    f(...)
  end)
  work(function() return n >= 4 end)
  profile.stop()
end
for _, mode in ipairs { "f", "l", "i1", "fi1" } do
  during(mode .. "i1", function() collectgarbage() end)
  during(mode .. "i1", function(thread) thread = nil collectgarbage() collectgarbage() end)
  during(mode .. "i1", function() busy(10000) end)
  if with_compiler then
    during(mode .. "i1", function() jit.flush() end)
    during(mode .. "i1", function() jit.off() jit.on() end)
  end
  during(mode .. "i1", function() assert(not pcall(coroutine.yield)) end)
  during(mode .. "i1", function() pcall(error, "x") end)
  local stopped = 0
  profile.start(mode .. "i1", function()
    stopped = stopped + 1
    profile.stop()
  end)
  work(function() return stopped > 0 end)
  busy(1e6)
  assert(stopped == 1)
  local again = 0
  profile.start(mode .. "i1", function()
    profile.start(mode .. "i1", function() again = again + 1 end)
  end)
  work(function() return again > 2 end)
  profile.stop()
end

-- Values survive: what a loop computes does not depend on samples.
do
  local function mix(limit)
    local t, s = {}, 0
    for i = 1, limit do
      local v = { i, name = "n" .. i % 10 }
      t[i % 50 + 1] = v
      s = s + #v.name + (t[(i * 7) % 50 + 1] or v)[1] % 3
    end
    return s
  end
  local expected = mix(20000)
  for _, mode in ipairs { "fi1", "li1", "i1" } do
    local n = 0
    profile.start(mode, function() n = n + 1 collectgarbage "step" end)
    local start = os.clock()
    repeat assert(mix(20000) == expected) until n > 10 or os.clock() - start > 20
    profile.stop()
  end
end

-- Events and hooks are silent in the function, and errors in finalizers or handlers are not samples.
if with_compiler then
  local told = 0
  local function handler() told = told + 1 end
  local n, before = 0, nil
  jit.attach(handler, "bc")
  profile.start("fi1", function()
    n = n + 1
    local was = told
    loadstring "return 1"
    assert(told == was, "no events in the function")
  end)
  work(function() return n > 2 end)
  profile.stop()
  jit.attach(handler)
end
do -- Where a trace goes from coroutine to coroutine, the function is told that ran, whichever runs when it is told.
  local function body(x)
    local s = 0
    while true do
      s = s * 3 % 1001 + x % 7
      s = s * 5 % 1003 + x % 11
      x = coroutine.yield(s)
    end
  end
  local function consume(f)
    local s = 0
    for i = 1, 20000 do s = (s * 3 + f(i)) % 1009 end
    return s
  end
  local seen, total = {}, 0
  profile.start("fi1", function(thread, samples)
    local name = profile.dumpstack(thread, "F", 1)
    seen[name], total = (seen[name] or 0) + samples, total + samples
  end)
  local f = coroutine.wrap(body)
  local start = os.clock()
  repeat consume(f) until total >= 40 or os.clock() - start > 20
  profile.stop()
  local told = {}
  for name, samples in pairs(seen) do told[#told + 1] = name .. ": " .. samples end
  local in_body = 0
  for name, samples in pairs(seen) do
    if name:find "body" or name:find("profile.lua:" .. debug.getinfo(body, "S").linedefined, 1, true) then in_body = in_body + samples end
  end
  -- (The evaluator does not say where it was: there it is the function that runs when it is told.)
  assert(in_body > total / 8, table.concat(told, ", "))
end
print "ok"
