-- Breaks bytecode and runs what is accepted: first interpreted with a limit of instructions, then, if that came to an end, compiled.
-- Usage: mutate.lua stride first program...
-- The results are the same but for closures that were made to refer to slots that are no variables: compiled code does not keep
-- these up to date.
-- Every mutant from the first on, a stride apart, is tried. The last line printed before a crash says which one it was.
local stride, first = tonumber(arg[1]), tonumber(arg[2])
local LIMIT = 20000
local ARGUMENTS = { 1, {}, "x" }
local sethook, error, unpack, type, tostring = debug.sethook, error, unpack, type, tostring
local EXCEEDED = {}
local exceeded

getmetatable("").__metatable = "locked"

local function stop()
  exceeded = true
  error(EXCEEDED)
end

-- What a mutant may use: nothing that reaches outside, and nothing that outlives it.
local function environment()
  local function copy(t)
    local new = {}
    for k, v in pairs(t) do new[k] = v end
    return new
  end
  local env = {}
  for _, name in ipairs { "assert", "error", "ipairs", "next", "pairs", "rawequal", "rawget", "rawset", "select", "setmetatable",
      "tonumber", "tostring", "type", "unpack" } do
    env[name] = _G[name]
  end
  for _, name in ipairs { "bit", "coroutine", "math", "string", "table" } do env[name] = copy(_G[name]) end
  env.math.randomseed = nil
  env.math.random = nil
  env.string.dump = nil
  env.print = function() end
  env.pcall = function(...)
    local results = { pcall(...) }
    if results[2] == EXCEEDED then error(EXCEEDED) end
    return unpack(results, 1, 10)
  end
  return env
end

local function run(bytes)
  local f = load(bytes, "=mutant", "b", environment())
  return pcall(f, unpack(ARGUMENTS))
end

local function shown(...)
  local list = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    list[i] = (type(v) == "number" and ("%.14g"):format(v) or type(v) == "string" and v or type(v)):gsub("0x%x+", "0x?")
  end
  return table.concat(list, " ")
end

local tried, accepted, compared, different = 0, 0, 0, 0
local what = ""

local function try(bytes)
  tried = tried + 1
  if (tried - first) % stride ~= 0 or tried < first then return end
  if not load(bytes, "=mutant", "b") then return end
  accepted = accepted + 1
  io.write(what, " mutant ", tried, "\n")
  io.flush()
  jit.off()
  exceeded = false
  sethook(stop, "", LIMIT)
  local interpreted = { run(bytes) }
  sethook()
  if not exceeded then
    local before = shown(unpack(interpreted, 1, 10))
    jit.on()
    local after = shown(unpack({ run(bytes) }, 1, 10))
    compared = compared + 1
    if before ~= after then
      different = different + 1
      io.write("interpreted: ", before, "\ncompiled: ", after, "\n")
    end
  end
  jit.off()
  if accepted % 64 == 0 then collectgarbage() end
end

for i = 3, #arg do
  local f = assert(loadfile(arg[i]))
  for _, strip in ipairs { false, true } do
    local bytes = string.dump(f, strip)
    what = arg[i]
    for n = 0, #bytes - 1 do
      if load(bytes:sub(1, n), "=mutant", "b") then
        io.write(what, " cut to ", n, " bytes is accepted\n")
        os.exit(1)
      end
    end
    for at = 1, #bytes do
      local head, old, tail = bytes:sub(1, at - 1), bytes:byte(at), bytes:sub(at + 1)
      for _, new in ipairs { bit.bxor(old, 1), bit.bxor(old, 0x80), old + 1, old - 1, old + 8, 0, 0xff, old + at } do
        try(head .. string.char(new % 256) .. tail)
      end
    end
  end
end
io.write(("%d mutants, %d accepted, %d compared, %d different\n"):format(tried, accepted, compared, different))
