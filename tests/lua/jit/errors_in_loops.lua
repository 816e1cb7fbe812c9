-- Errors raised from hot code and caught by pcall inside or outside of the loop: messages, lines and state are exact.

-- Every seventh round fails.
local count, failed, messages = 0, 0, {}
for i = 1, 700 do
  local ok, e = pcall(function()
    count = count + 1
    if i % 7 == 0 then error("round " .. i) end
    return i
  end)
  if not ok then
    failed = failed + 1
    messages[#messages + 1] = e
  elseif e ~= i then
    error("wrong value")
  end
end
print(count, failed, messages[1], messages[#messages])

-- A loop that is compiled and then hits nil, with the locals as they were.
local function walk(list)
  local sum, at = 0, 0
  local ok, e = pcall(function()
    for i = 1, 1000 do
      at = i
      sum = sum + list[i].v
    end
  end)
  return ok, e, sum, at
end
local list = {}
for i = 1, 1000 do list[i] = { v = i } end
print(walk(list))
list[800] = nil
print(walk(list))
list[800] = { v = "x" }
print(walk(list))
list[800] = { v = {} }
print(walk(list))
list[800] = 5
print(walk(list))
list[800] = { v = 0.5 }
print(walk(list))

-- Errors of every kind from the same hot line.
local function risky(a, b) return a.x + b end
local function try(a, b) local ok, e = pcall(risky, a, b) return ok and e or e:gsub("^.-:(%d+):.*to (.*)$", "%1 %2"):gsub("^.-: ", "") end
local good, results = { x = 1 }, {}
for i = 1, 300 do
  local a, b = good, i
  if i % 50 == 0 then a = nil end
  if i % 70 == 0 then b = nil end
  if i % 90 == 0 then a = { x = "s" } end
  local r = try(a, b)
  if type(r) == "string" then results[#results + 1] = i .. ": " .. r end
end
print(table.concat(results, "\n"))

-- Nested pcalls in a hot loop, thrown through several frames, tables as errors.
local function deep(n, v)
  if n == 0 then
    if v % 5 == 0 then error({ code = v }) end
    return v
  end
  return (deep(n - 1, v))
end
local caught, returned = 0, 0
for i = 1, 500 do
  local ok, e = pcall(pcall, deep, 5, i)
  local ok2, e2 = pcall(deep, 3, i)
  if ok2 then returned = returned + e2 else caught = caught + e2.code end
end
print(caught, returned)

-- An error leaves loops with open upvalues and half-built tables.
local fs, partial = {}, {}
for round = 1, 100 do
  pcall(function()
    for i = 1, 10 do
      local v = round * 10 + i
      fs[#fs + 1] = function() v = v + 1 return v end
      partial[round] = { i, v }
      if i == round % 10 then error("leave") end
    end
  end)
end
local s = 0
for _, f in ipairs(fs) do s = s + f() end
for _, p in ipairs(partial) do s = s + p[1] + p[2] end
print(#fs, s)

-- The error's position is that of the round's line, also with the loop in a called function.
local function lines(n)
  local t = { 1, 2, 3 }
  for i = 1, n do
    local a = t[i % 3 + 1]
    if i == 400 then
      t = nil
    end
    local b = a
      + (t and 0
        or nosuch)
  end
end
print(pcall(lines, 399))
print(pcall(lines, 500))
print(select(2, pcall(lines, 500)):match(":(%d+):"))

-- error with levels from hot functions, assert in hot loops, xpcall handlers with tracebacks.
local function checked(v) if v > 150 then error("too big: " .. v, 2) end return v end
print(pcall(function() local acc = 0 for i = 1, 300 do acc = acc + checked(i) end return acc end))
print(pcall(function() for i = 1, 300 do assert(i < 200, "assert at " .. i) end end))
print((select(2, xpcall(function() for i = 1, 300 do checked(i) end end, debug.traceback)):gsub("\n.*", "")))
local handled = 0
for i = 1, 300 do
  xpcall(function() if i % 3 == 0 then error(i) end end, function(e) handled = handled + 1 return e end)
end
print(handled)
print("ok")
