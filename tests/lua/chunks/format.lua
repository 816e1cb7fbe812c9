-- Dumps of bytecode taken apart and put together again: LuaJIT's format, as `vm/src/bc/dump.rs` writes it.
-- A dump is { head = its bytes in front of the prototypes, stripped = boolean, protos = list }. A prototype has the fields `flags`,
-- `params`, `frame`, `uv` (16-bit numbers), `kgc` and `knum` (bytes of each constant), `bc` (32-bit numbers), `lines` (bytes of the
-- line numbers in its header, or nothing) and `debug` (bytes). `parent[i]` is the prototype that takes prototype i as its child.
local byte, sub, char, concat, floor = string.byte, string.sub, string.char, table.concat, math.floor
local format = {}

-- A number of 7 bits a byte; it, and where the next field begins.
local function uleb(s, at)
  local value, scale = 0, 1
  while true do
    local b = byte(s, at)
    at = at + 1
    value = value + b % 128 * scale
    if b < 128 then return value, at end
    scale = scale * 128
  end
end

function format.uleb(value)
  local bytes = {}
  while value >= 128 do
    bytes[#bytes + 1] = char(value % 128 + 128)
    value = floor(value / 128)
  end
  bytes[#bytes + 1] = char(value)
  return concat(bytes)
end

-- Where the value of a template table ends.
local function skip_value(s, at)
  local kind
  kind, at = uleb(s, at)
  if kind >= 5 then return at + kind - 5 end
  if kind == 3 or kind == 4 then _, at = uleb(s, at) end
  if kind == 4 then _, at = uleb(s, at) end
  return at
end

-- Where the constant of an object ends.
local function skip_kgc(s, at)
  local kind
  kind, at = uleb(s, at)
  if kind >= 5 then return at + kind - 5 end
  if kind == 1 then
    local array, hash
    array, at = uleb(s, at)
    hash, at = uleb(s, at)
    for _ = 1, array + 2 * hash do at = skip_value(s, at) end
  end
  return at
end

local function skip_number(s, at)
  local value
  value, at = uleb(s, at)
  if value % 2 == 1 then _, at = uleb(s, at) end
  return at
end

-- So many constants.
local function constants(s, at, count, skip)
  local list = {}
  for i = 1, count do
    local stop = skip(s, at)
    list[i] = sub(s, at, stop - 1)
    at = stop
  end
  return list, at
end

local function read_proto(s, at, stop, stripped)
  local p = { uv = {}, bc = {}, lines = "" }
  local uvs, kgcs, knums, count
  p.flags, p.params, p.frame, uvs = byte(s, at, at + 3)
  kgcs, at = uleb(s, at + 4)
  knums, at = uleb(s, at)
  count, at = uleb(s, at)
  if not stripped then
    local size, start = uleb(s, at)
    at = start
    if size ~= 0 then
      _, at = uleb(s, at)
      _, at = uleb(s, at)
      p.lines = sub(s, start, at - 1)
    end
  end
  for i = 1, count do
    local a, b, c, d = byte(s, at, at + 3)
    p.bc[i] = a + b * 0x100 + c * 0x10000 + d * 0x1000000
    at = at + 4
  end
  for i = 1, uvs do
    local low, high = byte(s, at, at + 1)
    p.uv[i] = low + high * 256
    at = at + 2
  end
  p.kgc, at = constants(s, at, kgcs, skip_kgc)
  p.knum, at = constants(s, at, knums, skip_number)
  p.debug = sub(s, at, stop - 1)
  return p
end

function format.read(s)
  local flags, at = uleb(s, 5)
  local stripped = bit.band(flags, 2) ~= 0
  if not stripped then
    local length
    length, at = uleb(s, at)
    at = at + length
  end
  local dump = { head = sub(s, 1, at - 1), stripped = stripped, protos = {} }
  while true do
    local size
    size, at = uleb(s, at)
    if size == 0 then return dump end
    dump.protos[#dump.protos + 1] = read_proto(s, at, at + size, stripped)
    at = at + size
  end
end

local function words(list, size)
  local out = {}
  for i, v in ipairs(list) do
    for _ = 1, size do
      out[#out + 1] = char(v % 256)
      v = floor(v / 256)
    end
  end
  return concat(out)
end

function format.write_proto(p, stripped)
  local body = concat {
    char(p.flags % 256, p.params % 256, p.frame % 256, #p.uv % 256), format.uleb(#p.kgc), format.uleb(#p.knum), format.uleb(#p.bc),
    stripped and "" or format.uleb(#p.debug) .. p.lines, words(p.bc, 4), words(p.uv, 2), concat(p.kgc), concat(p.knum), p.debug,
  }
  return format.uleb(#body) .. body
end

-- `written`, if given, has the bytes of prototypes that need not be written again.
function format.write(dump, written)
  local out = { dump.head }
  for i, p in ipairs(dump.protos) do out[i + 1] = written and written[i] or format.write_proto(p, dump.stripped) end
  out[#out + 1] = "\0"
  return concat(out)
end

return format
