-- Runs broken bytecode: first interpreted with a limit of instructions, then, if that came to an end, compiled.
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
  for _, name in ipairs { "assert", "error", "getmetatable", "ipairs", "next", "newproxy", "pairs", "rawequal",
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
  env._G = env
  env.pcall = function(...) return passing(pcall(...)) end
  env.coroutine.resume = function(...) return passing(coroutine.resume(...)) end
  env.load = function(text, name) return load(text, name, "t", env) end
  env.loadstring = env.load
  env.require = function(name) return MODULES[name] or env[name] or error("module not found") end
  return env
end

local function run(bytes)
  local f = load(bytes, "=mutant", "b", environment())
  return pcall(f, 1, {}, "x")
end

local function shown(...)
  local list = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    list[i] = (type(v) == "number" and ("%.14g"):format(v) or type(v) == "string" and v or type(v)):gsub("0x%x+", "0x?")
  end
  return table.concat(list, " ")
end

-- Runs a mutant. What it gave interpreted and compiled, if that differs.
function sandbox.try(bytes)
  jit.off()
  exceeded, steps, started = false, 0, clock()
  sethook(stop, "", STEP)
  local interpreted = { run(bytes) }
  sethook()
  local before, after
  if not exceeded then
    before = shown(unpack(interpreted, 1, 10))
    jit.on()
    after = shown(unpack({ run(bytes) }, 1, 10))
    jit.off()
    sandbox.compared = sandbox.compared + 1
  end
  if before == after then return end
  sandbox.different = sandbox.different + 1
  return before, after
end

return sandbox
