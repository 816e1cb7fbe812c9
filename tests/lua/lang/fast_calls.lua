-- Builtins that the interpreter executes itself, in the cases at the edge of what it does, and beyond.

local function show(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
  print(table.concat(parts, " "))
end

-- Loops over ipairs: the end in the array part, behind it, in the hash part.
local function walk(t)
  local parts = {}
  for i, v in ipairs(t) do parts[#parts + 1] = i .. "=" .. tostring(v) end
  print(#parts, table.concat(parts, " "))
end
walk {}
walk { 1 }
walk { 1, 2, 3 }
walk { 1, nil, 3 }
walk { nil, 2 }
walk { [1] = "hash" }
walk { [2] = "hash" }
walk { "array", [2] = "hash", [3] = "hash" }
walk { 1, 2, 3, 4, x = 5, [5] = 5, [6] = 6, [8] = 8 }
walk { false, false }
local grown = {}
for i = 1, 20 do grown[i] = i end
for i = 20, 11, -1 do grown[i] = nil end
walk(grown)
walk(setmetatable({ 1, 2 }, { __index = function(_, i) return i < 5 and i or nil end }))

-- The table changes in the loop.
local t = { 1, 2, 3 }
for i, v in ipairs(t) do
  if i < 10 then t[i + 3] = i end
  if i == 5 then t[6] = nil end
  show(i, v)
end

-- Fewer and more variables than values, and other functions in the place of the iterator.
for i in ipairs { "a", "b" } do show(i) end
for i, v, more in ipairs { "a", "b" } do show(i, v, more) end
local step = ipairs {}
for i, v in step, { 7, 8, 9 }, 1 do show(i, v) end
for i, v in step, { 7, 8 }, -1 do show(i, v) end
for i, v in step, { [0] = "zero", "one" }, -1 do show(i, v) end
for i, v in step, { 7, 8 }, 0.0 do show(i, v) end
for i, v in step, { 7, 8 }, "1" do show(i, v) end
show(pcall(function() for _ in step, 1, 0 do end end))
show(pcall(function() for _ in step, {}, {} do end end))
show(pcall(function() for _ in nil, {}, 0 do end end))
show(step({ 5 }, 0))
show(select("#", step({ 5 }, 1)))

-- A hook sees the same functions as in other calls.
local names = {}
debug.sethook(function() names[#names + 1] = debug.getinfo(2, "S").what end, "c")
for _ in ipairs { 1, 2 } do end
debug.sethook()
show(#names, names[1], names[#names])

-- What ipairs and pairs return, to all kinds of callers.
show(select("#", ipairs {}), select("#", pairs {}))
local f, s, i, none = ipairs { 1 }
show(f == step, type(s), i, none)
f, s, i = pairs { 1 }
show(f == next, type(s), i)
show(pcall(ipairs))
show(pcall(pairs, nil))
show(pcall(ipairs, "text"))
show((select(3, pcall(ipairs, s))) == s)
local wrapped = coroutine.wrap(pairs)
show(wrapped(s) == next)

-- Protected calls.
show(pcall(nil))
show(pcall(show))
show(pcall(select, "#", 1, nil, 3, nil))
show(pcall(function(...) return select("#", ...), ... end, 1, nil))
show(pcall(pcall))
show(pcall(pcall, pcall, error, "e"))
show(pcall(pcall, pcall, function(...) return ... end, 1, 2, 3))
show(pcall(setmetatable({}, { __call = function(_, ...) return "called", ... end }), 1))
show(pcall(error, { 1 }) == false)
local function tail(...) return pcall(...) end
show(tail(tail, tail, math.max, 3, 4))
local a, b, c = pcall(function() return 1 end)
show(a, b, c)
show((pcall(function() return 1, 2 end)))
pcall(function() return 1, 2, 3 end)
show(xpcall(function(...) return "ok", ... end, print, 1, 2))
show(xpcall(error, function(e) return "handled " .. tostring(e) end, "e", 0))
show(xpcall(pcall, print, error, "inner"))
show(pcall(xpcall, nil, nil))
show(pcall(xpcall, show))
show(xpcall(nil, function(e) return e end))
show(xpcall(xpcall, print, function(x) return x + 1 end, print, 41))
local deep = 0
local function down() deep = deep + 1 return pcall(down) end
show((down()), deep > 1000)
show(pcall(coroutine.wrap(function(...) local x = pcall(coroutine.yield, ...) coroutine.yield(x) end), "y"))
local co = coroutine.wrap(function() return pcall(function() return coroutine.yield(1) + 1 end) end)
show(co())
show(co(41))
show(pcall(unpack, {}, 1, 200) == true, select("#", pcall(unpack, {}, 1, 200)))

-- Results of functions with variable arguments, and of metamethods.
local function pass(...) return ... end
show(pass(), (pass(1, 2)), pass(1, 2, 3))
local x, y, z = pass(1, 2)
show(x, y, z)
show(select("#", pass(nil, nil)))
local m = setmetatable({}, {
  __add = function(...) return ... end, __index = function(_, ...) return ... end, __lt = pass, __eq = pass, __unm = pass,
  __concat = function(l, r) return pcall(pass, l, r) end, __len = pass, __call = pass,
})
show(m + 1 == m, m.key, m < m, (m .. 1) == true, m(1) == m)
show(pcall(function() return m + nil == m end))

-- rawget, getmetatable, tostring.
local r = setmetatable({ 10, 20, x = "field", [0] = "zero", [1.5] = "half", [true] = "yes" }, { __index = error })
show(rawget(r, 1), rawget(r, 2), rawget(r, 3), rawget(r, 0), rawget(r, -1), rawget(r, "x"), rawget(r, "y"), rawget(r, 1.5), rawget(r, true), rawget(r, 1, 2))
show(pcall(rawget, r))
show(pcall(rawget, 1, 1))
show(rawget(r, 2.0), rawget({}, "x"), rawget({}, 1))
show(getmetatable({}), getmetatable(r) ~= nil, getmetatable(setmetatable({}, { __metatable = "hidden" })))
show(getmetatable(setmetatable({}, { __metatable = false })), getmetatable("").__index == string, getmetatable(1))
show(pcall(getmetatable))
show(tostring("text"), tostring(1), tostring(nil), tostring(setmetatable({}, { __tostring = function() return "named" end })))
show(pcall(tostring))

-- Coroutines that pass many values, or none.
local echo = coroutine.wrap(function(...)
  local function again(...) return again(coroutine.yield(...)) end
  return again(...)
end)
show(select("#", echo()))
show(echo(1, nil, 3, nil))
show(select("#", echo(unpack({}, 1, 250))))
local both = coroutine.create(pass)
show(coroutine.resume(both, 1, 2))
show(coroutine.resume(both))
show(coroutine.status(both))
show(coroutine.resume(coroutine.running() or both))
local nested = coroutine.wrap(function() for v in coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) do coroutine.yield(v) end end)
show(nested(), nested())
show(pcall(nested))
