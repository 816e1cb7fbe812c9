-- Stack traces, line numbers, locals and errors that are asked for in the middle of hot code.

-- The line and the level from inside of a hot loop and a hot call.
local function line() return debug.getinfo(2, "l").currentline end
local base = line()
local seen = {}
for i = 1, 500 do
  local l
  if i % 2 == 0 then
    l = line()
  else
    l = line()
  end
  seen[l - base] = (seen[l - base] or 0) + 1
end
print(seen[5], seen[7])

-- Tracebacks from a few rounds of a long loop, with inlined functions in between.
local function leaf(i)
  if i % 400 == 0 then return (debug.traceback("round " .. i):gsub("\n%s*%[C%]: at [^\n]*", "")) end
  return nil
end
local function mid(i) local r = leaf(i) return r end
local function top(i) local r = mid(i) return r end
local traces = {}
for i = 1, 1000 do
  local tr = top(i)
  if tr then traces[#traces + 1] = tr end
end
print(table.concat(traces, "\n"))

-- Locals read and changed by debug functions while the loop runs.
local function bump()
  local name, value = debug.getlocal(2, 1)
  if value % 100 == 0 then debug.setlocal(2, 1, value + 50) end
  return name
end
local function loop()
  local counter, names = 0, 0
  for i = 1, 300 do
    counter = counter + 1
    if bump() == "counter" then names = names + 1 end
  end
  return counter, names
end
print(loop())

-- The error's line for every line of a hot loop body.
local function body(n, where)
  local t, u = { v = 1 }, { 1, 2, 3 }
  for i = 1, n do
    local a = t.v
    if i == where then t, u = nil, nil end
    local b = u[i % 3 + 1]
    local c = a + b
    t.v = c % 10
  end
end
for _, where in ipairs { 1, 56, 57, 58, 150, 299 } do print(select(2, pcall(body, 300, where))) end
local function calls(n, where)
  local f = function(x) return x end
  for i = 1, n do
    f(i)
    if i == where then f = nil end
  end
end
print(select(2, pcall(calls, 300, 200)))
local function compare(n, where)
  local limit = 1e9
  local k = 0
  while k < limit do
    k = k + 1
    if k == where then limit = "x" end
    if k > n then return k end
  end
end
print(select(2, pcall(compare, 300, 250)))
local function concat(n, where)
  local s, p = "", "."
  for i = 1, n do
    s = s .. p
    if i == where then p = {} end
  end
  return #s
end
print(select(2, pcall(concat, 300, 1000)), select(2, pcall(concat, 300, 200)))

-- Number of levels inside recursion that is hot; names of callers.
local function depth() local d = 0 while debug.getinfo(d + 1, "l") do d = d + 1 end return d end
local here = depth()
local function rec(n) if n == 0 then local d = depth() return d end local d = rec(n - 1) return d end
local depths = {}
for i = 1, 120 do
  local d = rec(i % 10)
  depths[d - here] = (depths[d - here] or 0) + 1
end
print(depths[1], depths[2], depths[10], depths[11])
local function caller_name() return debug.getinfo(2, "n").name end
local names = {}
local function alpha() local n = caller_name() return n end
local function beta() local n = caller_name() return n end
for i = 1, 300 do
  local n = (i % 3 == 0 and alpha or beta)()
  n = tostring(n)
  local m = alpha()
  names[m] = (names[m] or 0) + 1
end
print(names.alpha)

-- error with levels points to the caller's line in the loop.
local function complain(i) if i % 250 == 0 then error("complaint " .. i, 2) end end
local function many(n)
  for i = 1, n do

    complain(i)

  end
end
print(select(2, pcall(many, 600)))
print(select(2, pcall(function() for i = 251, 600 do complain(i) end end)))

-- getinfo of functions, and finalizers and hooks, in a loop.
local total = 0
for i = 1, 300 do
  local info = debug.getinfo(leaf, "S")
  total = total + info.linedefined + #info.short_src
end
print(total == 300 * (debug.getinfo(leaf, "S").linedefined + #"debug_in_hot_code.lua"))
print("ok")
