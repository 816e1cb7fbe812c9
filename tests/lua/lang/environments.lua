-- setfenv and getfenv: functions, levels, closures, globals that are missing or computed, coroutines.

-- By function.
local function f() return x end
x = "global"
print(f(), getfenv(f) == _G, setfenv(f, { x = "own" }) == f, f(), getfenv(f).x)
local env = setmetatable({}, { __index = _G })
local function g() y = 1 z = tostring(y) return y, z end
setfenv(g, env)
print(g())
print(rawget(_G, "y"), rawget(_G, "z"), env.y, env.z)

-- Closures inherit the environment of the function that makes them, at that moment.
local function make() return function() return v end end
local before = make()
setfenv(make, { v = "in env" })
local after = make()
v = "in globals"
print(before(), after())
setfenv(after, { v = "changed" })
print(make()(), after())
local function outer()
  local function inner() return getfenv(1) end
  return inner, getfenv(1)
end
local e1 = setmetatable({}, { __index = _G })
setfenv(outer, e1)
local inner, own = outer()
print(inner() == e1, own == e1)

-- By level.
local function level_up()
  setfenv(2, setmetatable({ who = "caller's" }, { __index = _G }))
  return who
end
local function caller()
  local mine = level_up()
  return mine, who
end
print(caller())
local function level_self()
  setfenv(1, { seen = "self" })
  return seen
end
print(level_self(), seen)
print(getfenv(1) == _G, getfenv() == _G, getfenv(0) == _G, getfenv(print) == _G)
print(pcall(setfenv, print, {}))
print(pcall(setfenv, 100, {}))
print(pcall(setfenv, f, 5))
print(pcall(getfenv, 100))
print(pcall(getfenv, -1))
print(pcall(setfenv, -1, {}))

-- Loaded chunks: a sandbox that sees only what it is given.
local function sandbox(source, vars)
  local chunk = assert(loadstring(source, "=sandbox"))
  return pcall(setfenv(chunk, vars))
end
local vars = { print = print, add = function(a, b) return a + b end }
print(sandbox("return add(2, 3)", vars))
print(sandbox("count = (count or 0) + 1 return count", vars))
print(sandbox("count = (count or 0) + 1 return count", vars))
print(sandbox("return string.rep('x', 3)", vars))
print(sandbox("return _G", vars))
print(rawget(_G, "count"), vars.count)

-- Strict globals by metatable on _G.
local declared = {}
setmetatable(_G, {
  __newindex = function(t, k, value)
    declared[#declared + 1] = k
    rawset(t, k, value)
  end,
  __index = function(_, k) error("undeclared variable " .. k, 2) end,
})
fresh1 = 1
fresh1 = 2
fresh2 = nil
fresh2 = 3
print(table.concat(declared, " "), fresh1, fresh2)
print(pcall(function() return not_declared end))
setmetatable(_G, nil)
print(not_declared)

-- _G is an ordinary variable; replacing it changes nothing else.
local saved = _G
_G = { fake = true }
print(fake, type(print), _G.fake)
_G = saved
print(_G._G == _G, getfenv()._G == _G)

-- Global functions through environments: redefinition is seen by old callers.
function shared() return "first" end
local function use() return shared() end
print(use())
function shared() return "second" end
print(use())
local old_tostring = tostring
function tostring(value) return "<" .. old_tostring(value) .. ">" end
print(5, tostring(5))
tostring = old_tostring
print(5, tostring(5))

-- Coroutines have an environment for level 0.
local thread_env = { tag = "thread", coroutine = coroutine, print = print, getfenv = getfenv }
local co = coroutine.create(function()
  local t0 = getfenv(0)
  return t0 == saved, getfenv(1) == saved
end)
print(coroutine.resume(co))
co = coroutine.create(function() return getfenv(0).tag, loadstring("return tag")() end)
debug.setfenv(co, thread_env)
print(coroutine.resume(co))
print(debug.getfenv(co).tag, debug.getfenv(f).x)

-- module and package.seeall.
module("testmod", package.seeall)
function exported() return "from module", print ~= nil end
value = 42
setfenv(1, saved)
print(testmod.exported())
print(testmod.value, testmod._NAME, package.loaded.testmod == testmod, rawget(_G, "value"))
print("ok")
