-- Runs broken bytecode: first interpreted with a limit of instructions, then, if that came to an end, compiled.
-- Finalizers are called after either, under the limit: where the collector calls them there are no hooks, and one that loops for ever
-- would look like a fault of whatever mutant happens to run then.
-- The results are the same but for closures that were made to refer to slots that are no variables: compiled code does not keep
-- these up to date.
-- The limit is looked at every so many instructions, and so often: few instructions can take long where they call builtins.
local STEP, STEPS, SECONDS = 1000, 20, 1
local sethook, error, unpack, type, tostring = debug.sethook, error, unpack, type, tostring
local pcall, load, select, next = pcall, load, select, next
local clock = os.clock
local EXCEEDED = {}
local exceeded, steps, started
local sandbox = { compared = 0, different = 0 }

getmetatable("").__metatable = "locked"

local function stop()
  steps = steps + 1
  if steps >= STEPS or clock() > started + SECONDS then
    exceeded = true
    error(EXCEEDED)
  end
end

local function passing(...)
  if select(2, ...) == EXCEEDED then error(EXCEEDED) end
  return ...
end

-- Builtins that take as long as their arguments say, of which no limit of instructions knows.
local function bounded(f)
  return function(...)
    for i = 1, select("#", ...) do
      local v = tonumber((select(i, ...)))
      if v and not (v > -1e5 and v < 1e5) then error("out of bounds") end
    end
    return f(...)
  end
end

-- Userdata that fell to the collector, with the finalizers that they had then.
local due = {}

-- newproxy, but that a finalizer is only noted when the collector calls it. The metatable that a mutant sees is a stand-in.
local function proxy(like)
  local new = newproxy(like)
  if like ~= true then return new end
  local real, finalizer = getmetatable(new)
  real.__gc = function(object)
    if finalizer ~= nil then due[#due + 1] = { finalizer, object } end
  end
  real.__metatable = setmetatable({}, {
    __index = function(_, k)
      if k == "__gc" then return finalizer end
      return real[k]
    end,
    __newindex = function(_, k, v)
      if k == "__gc" then finalizer = v elseif k ~= "__metatable" then real[k] = v end
    end,
  })
  return new
end

local MODULES = { ["string.buffer"] = require "string.buffer", ["table.new"] = require "table.new",
  ["table.clear"] = require "table.clear" }

-- What a mutant may use: nothing that reaches outside, and nothing that outlives it.
local function environment()
  local function copy(t)
    local new = {}
    for k, v in pairs(t) do new[k] = v end
    return new
  end
  local env = {}
  for _, name in ipairs { "assert", "error", "getmetatable", "ipairs", "next", "pairs", "rawequal",
      "rawget", "rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "bit", "coroutine", "math", "string", "table" } do env[name] = copy(_G[name]) end
  for _, name in ipairs { "concat", "insert", "move", "remove" } do env.table[name] = bounded(table[name]) end
  env.math.randomseed = nil
  env.math.random = nil
  env.string.dump = nil
  env.print = function() end
  env.io = { write = env.print }
  env.os = { clock = function() return 0 end, time = function() return 0 end }
  env.jit = { on = env.print, off = env.print, flush = env.print, status = function() return true end, opt = { start = env.print } }
  env.collectgarbage = function(what) return collectgarbage(what == "count" and what or "step") end
  env.newproxy = proxy
  env._G = env
  env.pcall = function(...) return passing(pcall(...)) end
  env.coroutine.resume = function(...) return passing(coroutine.resume(...)) end
  env.load = function(text, name) return load(text, name, "t", env) end
  env.loadstring = env.load
  env.require = function(name) return MODULES[name] or env[name] or error("module not found") end
  return env
end

local function run(bytes)
  return pcall(load(bytes, "=mutant", "b", environment()), 1, {}, "x")
end

local function shown(...)
  local list = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    list[i] = (type(v) == "number" and ("%.14g"):format(v) or type(v) == "string" and v or type(v)):gsub("0x%x+", "0x?")
  end
  return table.concat(list, " ")
end

-- Calls a function, interpreted, until the limit is reached.
local function limited(f, ...)
  exceeded, steps, started = false, 0, clock()
  sethook(stop, "", STEP)
  local results = { pcall(f, ...) }
  sethook()
  return results
end

local function call_due()
  local list = due
  due = {}
  for _, entry in ipairs(list) do
    pcall(entry[1], entry[2])
    if exceeded then break end
  end
end

-- Runs a mutant. What it gave interpreted and compiled, if that differs.
function sandbox.try(bytes)
  jit.off()
  local interpreted = limited(load(bytes, "=mutant", "b", environment()), 1, {}, "x")
  local ended = not exceeded
  limited(call_due)
  local before, after
  if ended then
    before = shown(unpack(interpreted, 1, 10))
    jit.on()
    after = shown(unpack({ run(bytes) }, 1, 10))
    jit.off()
    limited(call_due)
    sandbox.compared = sandbox.compared + 1
  end
  if before == after then return end
  sandbox.different = sandbox.different + 1
  return before, after
end

-- Frees what mutants have left.
function sandbox.collect()
  collectgarbage()
  limited(call_due)
end

return sandbox
