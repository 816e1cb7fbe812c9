-- Runs programs one after another in one state so that they do not see each other: each has globals and libraries of its own, its
-- output is kept, and what it changed of the state itself (hooks, metatables of basic types, pace of the collector, options of the
-- compiler) is put back.
local isolate = {}
local LIBRARIES = { "bit", "coroutine", "debug", "io", "jit", "math", "os", "package", "string", "table" }
local NAMES = { "assert", "collectgarbage", "dofile", "error", "gcinfo", "getfenv", "getmetatable", "ipairs", "load", "loadfile",
  "loadstring", "module", "newproxy", "next", "pairs", "pcall", "print", "rawequal", "rawget", "rawset", "rawlen", "require", "select",
  "setfenv", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall", "_VERSION" }
local globals = {}
for _, name in ipairs(NAMES) do globals[name] = _G[name] end
local originals = {}
for _, name in ipairs(LIBRARIES) do
  originals[name] = {}
  for k, v in pairs(_G[name]) do originals[name][k] = v end
end
local modules = {}
for name in pairs(package.loaded) do modules[name] = true end
local string_metatable = getmetatable("")
local setfenv, debug, jit, collectgarbage, attach = setfenv, debug, jit, collectgarbage, jit.attach
local pcall, tostring = pcall, tostring

-- The options of the compiler, which a program may change. They are set before each.
isolate.options = {}
-- May programs flush all traces? Otherwise those of other programs live on.
isolate.flushing = true

-- A file that keeps what is written.
local function keeping(out)
  local file = {}
  function file:write(...)
    for i = 1, select("#", ...) do out[#out + 1] = (tostring((select(i, ...)))) end
    return file
  end
  function file:flush() return file end
  function file:setvbuf() return true end
  function file:close() return true end
  return file
end

local function environment(out, attached, argument)
  local env = { arg = { [0] = "program", argument } }
  for k, v in pairs(globals) do env[k] = v end
  for name, fields in pairs(originals) do
    env[name] = {}
    for k, v in pairs(fields) do env[name][k] = v end
  end
  local file = keeping(out)
  env._G = env
  env.io.stdout = file
  env.io.write = function(...) return file:write(...) end
  env.io.output = function() return file end
  env.print = function(...)
    for i = 1, select("#", ...) do out[#out + 1] = (i > 1 and "\t" or "") .. env.tostring((select(i, ...))) end
    out[#out + 1] = "\n"
  end
  env.os.exit = function() error("os.exit") end
  env.jit.flush = function(...)
    if select("#", ...) > 0 or isolate.flushing then return jit.flush(...) end
  end
  env.jit.attach = function(f, ...)
    attached[#attached + 1] = f
    return attach(f, ...)
  end
  return env
end

local function put_back(attached)
  debug.sethook()
  for _, f in ipairs(attached) do attach(f) end
  for _, value in ipairs { 0, true, print, coroutine.create(print) } do debug.setmetatable(value, nil) end
  debug.setmetatable(nil, nil)
  debug.setmetatable("", string_metatable)
  for k in pairs(string_metatable) do string_metatable[k] = nil end
  string_metatable.__index = string
  for name, fields in pairs(originals) do
    local library = _G[name]
    for k in pairs(library) do
      if fields[k] == nil then library[k] = nil end
    end
    for k, v in pairs(fields) do library[k] = v end
  end
  for name in pairs(package.loaded) do
    if not modules[name] and not package.preload[name] then package.loaded[name] = nil end
  end
  collectgarbage("restart")
  collectgarbage("setpause", 200)
  collectgarbage("setstepmul", 200)
end

-- What a program printed, and whether it ended without an error.
function isolate.run(f, argument)
  local out, attached = {}, {}
  local env = environment(out, attached, argument)
  local before = getfenv(0)
  jit.opt.start(unpack(isolate.options))
  setfenv(f, env)
  -- For chunks that the program loads.
  setfenv(0, env)
  local ok, problem = pcall(f, argument)
  setfenv(0, before)
  put_back(attached)
  return table.concat(out), ok, problem
end

return isolate
