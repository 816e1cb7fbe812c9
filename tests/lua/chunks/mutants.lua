-- Broken bytecode chosen at random, which is refused or harmless: mutants.lua SEED FIRST LAST PROGRAM...
-- The programs are what is broken, stripped and not. Seed and number say what mutant N is, whatever the first is (the programs being the
-- same), so `mutants.lua SEED N N PROGRAM...` repeats one; with MUTANT=FILE in the environment it is written there. Before a mutant that
-- was accepted runs, its number is printed: the last one before a crash or a hang names it. `mutants.py` drives this.
local folder = arg[0]:match("^.*/") or ""
package.path = folder .. "?.lua;" .. package.path
local format = require "format"
local mutations = require "mutations"
local sandbox = require "sandbox"
local random = math.random
local save = os.getenv "MUTANT"
local seed, first, last = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])

local seeds = {}
for i = 4, #arg do
  local f = assert(loadfile(arg[i]))
  mutations.learn(f)
  -- Those without debug information are accepted more often, so they are tried more often.
  for _, strip in ipairs { true, true, false } do
    local bytes = string.dump(f, strip)
    local dump, written = format.read(bytes), {}
    for j, p in ipairs(dump.protos) do written[j] = format.write_proto(p, dump.stripped) end
    seeds[#seeds + 1] = { name = arg[i], dump = dump, written = written, bytes = bytes }
  end
end

local function copy(p)
  local new = {}
  for k, v in pairs(p) do
    if type(v) == "table" then
      local list = {}
      for i, x in ipairs(v) do list[i] = x end
      v = list
    end
    new[k] = v
  end
  return new
end

-- A few bytes anywhere are others, or are missing, or come twice.
local function scramble(bytes)
  for _ = 1, random(random(4)) do
    local at, way = random(#bytes), random(6)
    if way == 1 then
      bytes = bytes:sub(1, at - 1) .. bytes:sub(at + random(4))
    elseif way == 2 then
      bytes = bytes:sub(1, at) .. bytes:sub(math.max(at - random(8), 1))
    else
      bytes = bytes:sub(1, at - 1) .. string.char(random(0, 255)) .. bytes:sub(at + 1)
    end
  end
  return bytes
end

-- Mutant n: its bytes, and what program it was made from.
local function mutant(n)
  math.randomseed(seed * 2 ^ 32 + n)
  local from = seeds[random(#seeds)]
  if random(16) == 1 then return scramble(from.bytes), from.name end
  local dump = { head = from.dump.head, stripped = from.dump.stripped, protos = {} }
  local written = {}
  for i, p in ipairs(from.dump.protos) do dump.protos[i], written[i] = p, from.written[i] end
  for _ = 1, random(2) == 1 and 1 or random(2, 5) do
    local i = random(#dump.protos)
    if written[i] then dump.protos[i], written[i] = copy(dump.protos[i]), nil end
    mutations.change(dump.protos[i])
  end
  if random(64) == 1 then
    local i, j = random(#dump.protos), random(#dump.protos)
    dump.protos[i], dump.protos[j], written[i], written[j] = dump.protos[j], dump.protos[i], written[j], written[i]
  end
  return format.write(dump, written), from.name
end

jit.off()
local tried, accepted = 0, 0
for n = first, last do
  local bytes, name = mutant(n)
  tried = tried + 1
  if save then
    local file = assert(io.open(save, "wb"))
    file:write(bytes)
    file:close()
  end
  if load(bytes, "=mutant", "b") then
    accepted = accepted + 1
    io.write(n, " ", name, "\n")
    io.flush()
    local before, after = sandbox.try(bytes)
    if before ~= after then io.write("interpreted: ", before, "\ncompiled: ", after, "\n") end
    if accepted % 64 == 0 then
      jit.flush()
      sandbox.collect()
    end
  end
end
io.write(("%d mutants, %d accepted, %d compared, %d different\n"):format(tried, accepted, sandbox.compared, sandbox.different))
