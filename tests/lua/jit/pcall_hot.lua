-- pcall and xpcall in hot loops: success, failure, both by turns, nested, with results and with side effects.

-- Always fine.
local function add(a, b) return a + b, a - b, "s" end
local sum = 0
for i = 1, 1000 do
  local ok, x, y, z = pcall(add, i, 1)
  if ok then sum = sum + x + y + #z end
end
print(sum)

-- Fails now and then, then always.
local good, bad = 0, 0
for i = 1, 1500 do
  local v = i
  if i > 1000 or i % 50 == 0 then v = nil end
  local ok, e = pcall(add, v, 1)
  if ok then good = good + e else bad = bad + #e end
end
print(good, bad)

-- pcall of builtins and of what cannot be called.
local callees = { math.floor, tostring, error, 5, string.rep, setmetatable, nil, function(v) return v end }
local oks, texts = 0, {}
for i = 1, 800 do
  local ok, r = pcall(callees[i % 8 + 1], 3.7)
  if ok then oks = oks + 1 else texts[tostring(r)] = (texts[tostring(r)] or 0) + 1 end
end
local keys = {}
for k, v in pairs(texts) do keys[#keys + 1] = v .. "x " .. k end
table.sort(keys)
print(oks)
for _, k in ipairs(keys) do print(k) end

-- Closures with upvalues changed before the error.
local steps, undone = 0, 0
for i = 1, 600 do
  local progress = 0
  local ok = pcall(function()
    for k = 1, 5 do
      progress = progress + 1
      steps = steps + 1
      if (i + k) % 17 == 0 then error() end
    end
  end)
  if not ok then undone = undone + progress end
end
print(steps, undone)

-- Nested protection; rethrow; errors as tables with fields.
local caught = { inner = 0, outer = 0, value = 0 }
for i = 1, 500 do
  local ok, e = pcall(function()
    local ok2, e2 = pcall(function()
      if i % 3 == 0 then error({ v = i }) end
      if i % 5 == 0 then error("five", 0) end
      return i
    end)
    if not ok2 then
      caught.inner = caught.inner + 1
      if type(e2) == "table" then error(e2) end
      return -1
    end
    return e2
  end)
  if ok then caught.value = caught.value + e else caught.outer = caught.outer + e.v end
end
print(caught.inner, caught.outer, caught.value)

-- xpcall with handlers that look at the stack, arguments, results.
local lines, hs = {}, 0
for i = 1, 300 do
  local ok, r = xpcall(function(a, b)
    if a % 10 == 0 then error("at " .. a) end
    return a * b
  end, function(m)
    lines[debug.getinfo(2, "S").what] = true
    return #m
  end, i, 2)
  hs = hs + r + (ok and 0 or 100000)
end
print(hs, lines.C, lines.Lua)

-- A loop inside of pcall that gets hot there, with an error in the end.
local function loop(n, where)
  local acc = 0
  for i = 1, n do
    acc = acc + i
    if i == where then error(acc, 0) end
  end
  return acc
end
local es, rs = 0, 0
for i = 1, 200 do
  local ok, v = pcall(loop, 150, i)
  if ok then rs = rs + v else es = es + v end
end
print(es, rs)

-- pcall returned directly, in conditions, with select, with many results.
local function try(f, ...) return pcall(f, ...) end
local n = 0
for i = 1, 400 do
  if pcall(error) then n = n + 1e6 end
  n = n + select("#", pcall(add, 1, 2)) + select("#", try(add, i, i))
  local t = { pcall(add, i, 2) }
  n = n + #t + (t[1] and t[2] or 0)
  n = n + (select(2, try(function(...) return select("#", ...) end, nil, nil, i)))
end
print(n)

-- Errors through metamethods, iterators, sort and gsub inside hot pcalls.
local mt = setmetatable({}, { __index = function(_, k) if k % 4 == 0 then error("no " .. k, 0) end return k end, __add = function(_, v) if v > 250 then error("big", 0) end return v end })
local ix, er = 0, 0
for i = 1, 400 do
  local ok, v = pcall(function() return mt[i] + (mt + i) end)
  if ok then ix = ix + v else er = er + #v end
  if i % 8 == 0 then
    er = er + #select(2, pcall(table.sort, { 3, 2, 1 }, function() error("cmp", 0) end))
    er = er + #select(2, pcall(string.gsub, "abc", ".", function(c) if c == "c" then error("repl", 0) end end))
    er = er + #select(2, pcall(function() for _ in function() error("iter", 0) end do end end))
  end
end
print(ix, er)

-- Stack overflow in a hot loop of pcalls.
local deep = 0
local function over(k) deep = deep + 1 return 1 + over(k + 1) end
local overs = 0
for i = 1, 5 do
  local ok, e = pcall(over, 1)
  if not ok and e:find("stack overflow", 1, true) then overs = overs + 1 end
end
print(overs, deep > 5000)
print("ok")
