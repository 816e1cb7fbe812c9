-- Runs a binary chunk: interpreted with a limit of instructions, then, if that came to an end and `how` says so, compiled by `native`
-- code or in the evaluator (`eval`). The chunk has an environment of its own, without what takes long by itself.
local LIMIT = 20000
local ARGUMENTS = { 1, {}, "x" }
local EXCEEDED = {}
local sethook, error, unpack, load, dump = debug.sethook, error, unpack, load, string.dump
local exceeded

getmetatable("").__metatable = "locked"
for _, name in ipairs { "dump", "find", "gmatch", "gsub", "match", "rep" } do string[name] = nil end

local function stop()
  exceeded = true
  error(EXCEEDED)
end

local function environment()
  local function copy(t)
    local new = {}
    for k, v in pairs(t) do new[k] = v end
    return new
  end
  local env = {}
  for _, name in ipairs { "assert", "error", "getfenv", "ipairs", "next", "pairs", "rawequal", "rawget", "rawset", "select",
      "setfenv", "setmetatable", "tonumber", "tostring", "type", "unpack" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "bit", "coroutine", "math", "string", "table" } do env[name] = copy(_G[name]) end
  env.pcall = function(...)
    local results = { pcall(...) }
    if results[2] == EXCEEDED then error(EXCEEDED) end
    return unpack(results, 1, 10)
  end
  return env
end

local function run(bytes)
  local f = load(bytes, "=chunk", "b", environment())
  return pcall(f, unpack(ARGUMENTS))
end

return function(bytes, how)
  local f = load(bytes, "=chunk", "b")
  if not f then return end
  local again = dump(f)
  assert(dump(assert(load(again, "=chunk", "b"))) == again, "the dump of what was read is another one")
  jit.off()
  exceeded = false
  sethook(stop, "", LIMIT)
  run(bytes)
  sethook()
  if exceeded or how == "" then return end
  jit.on()
  jit.opt.start("hotloop=1", "hotexit=1", "hottree=0", "maxtrace=100", how == "eval" and "eval=1" or "eval=0")
  run(bytes)
end
