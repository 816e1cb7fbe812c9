-- Changes of a prototype (see format.lua) that leave it looking like bytecode: operands in range, other operations with operands of
-- the same kinds, instructions moved, removed and put in, constants, sizes, upvalues. `mutations.change(p)` makes one, chosen by
-- math.random.
local encode = require "string.buffer".encode
local format = require "format"
local util = require "jit.util"
local names = require "jit.vmdef".bcnames
local random, floor = math.random, math.floor
local band, rshift = bit.band, bit.rshift
local mutations = {}

-- Kinds of operands, as the mode of an operation has them (vm/src/bc/ops.rs): A in bits 0 to 2, B in 3 to 6, C or D in 7 to 10.
local UPVALUE, LITERAL, SIGNED, PRIMITIVE, NUMBER, STRING, CDATA, JUMP = 5, 6, 7, 8, 9, 10, 14, 13
local BIAS = 0x8000
local modes, like = {}, {}
local OPERATIONS = #names / 6

-- Learns the modes of the operations that a function and its children contain.
function mutations.learn(f)
  for pc = 1, 1e9 do
    local ins, mode = util.funcbc(f, pc)
    if not ins then break end
    local op = band(ins, 0xff)
    if not modes[op] then
      local kinds = band(mode, 0x7ff)
      modes[op] = kinds
      like[kinds] = like[kinds] or {}
      table.insert(like[kinds], op)
    end
  end
  for i = -1, -1e9, -1 do
    local k = util.funck(f, i)
    if not k then break end
    if type(k) == "proto" then mutations.learn(k) end
  end
end

local function a_of(ins) return floor(ins / 0x100) % 0x100 end
local function d_of(ins) return floor(ins / 0x10000) end
local function with_a(ins, a) return ins + (a - a_of(ins)) * 0x100 end
local function with_d(ins, d) return ins % 0x10000 + d % 0x10000 * 0x10000 end
local function any(list) return random(#list) end

-- A value for an operand of this kind that is mostly in range.
local function operand(p, kind, old, pc, most)
  local way = random(12)
  if way == 1 then return random(0, most) end
  if way <= 3 then return (old + random(-2, 2)) % (most + 1) end
  if kind == UPVALUE then return random(0, math.max(#p.uv - 1, 0)) end
  if kind == LITERAL then return way <= 9 and random(0, 6) or random(0, most) end
  if kind == SIGNED then return (way <= 9 and random(-10, 10) or random(-0x8000, 0x7fff)) % 0x10000 end
  if kind == PRIMITIVE then return random(0, 2) end
  if kind == NUMBER then return random(0, math.max(#p.knum - 1, 0)) end
  if kind >= STRING and kind <= CDATA and kind ~= JUMP then return random(0, math.max(#p.kgc - 1, 0)) end
  if kind == JUMP then return (BIAS + random(1, #p.bc) - (pc + 1)) % 0x10000 end
  return random(0, math.max(p.frame - 1, 0))
end

local function change_operand(p)
  local pc = any(p.bc)
  local ins = p.bc[pc]
  local mode = modes[ins % 0x100]
  if not mode then return end
  local a, b, c = band(mode, 7), band(rshift(mode, 3), 15), rshift(mode, 7)
  local which = random(3)
  if which == 1 or c == 0 then
    ins = with_a(ins, operand(p, a, a_of(ins), pc, 0xff))
  elseif b == 0 then
    ins = with_d(ins, operand(p, c, d_of(ins), pc, 0xffff))
  elseif which == 2 then
    ins = with_d(ins, d_of(ins) % 0x100 + operand(p, b, floor(d_of(ins) / 0x100), pc, 0xff) * 0x100)
  else
    ins = with_d(ins, d_of(ins) - d_of(ins) % 0x100 + operand(p, c, d_of(ins) % 0x100, pc, 0xff))
  end
  p.bc[pc] = ins
end

local function change_operation(p)
  local pc = any(p.bc)
  local old = p.bc[pc] % 0x100
  local others = like[modes[old]]
  local new = others and random(8) > 1 and others[any(others)] or random(0, OPERATIONS - 1)
  p.bc[pc] = p.bc[pc] - old + new
end

local function swap(p)
  local i = any(p.bc)
  local j = random(3) > 1 and math.min(i + random(3), #p.bc) or any(p.bc)
  p.bc[i], p.bc[j] = p.bc[j], p.bc[i]
end

local function copy(p)
  local from, to = any(p.bc), any(p.bc)
  for i = 0, random(random(4)) - 1 do
    if p.bc[from + i] and p.bc[to + i] then p.bc[to + i] = p.bc[from + i] end
  end
end

-- Makes room for an instruction, or removes one, so that jumps still end where they did.
local function shift(p, at, by)
  for pc, ins in ipairs(p.bc) do
    local mode = modes[ins % 0x100]
    if mode and rshift(mode, 7) == JUMP then
      local target = pc + 1 + d_of(ins) - BIAS
      if pc < at and target > at then
        p.bc[pc] = with_d(ins, d_of(ins) + by)
      elseif pc >= at and target <= at then
        p.bc[pc] = with_d(ins, d_of(ins) - by)
      end
    end
  end
end

local function insert(p)
  local at, ins = any(p.bc), p.bc[any(p.bc)]
  shift(p, at, 1)
  table.insert(p.bc, at, ins)
end

local function remove(p)
  if #p.bc < 2 then return end
  local at = any(p.bc)
  shift(p, at, -1)
  table.remove(p.bc, at)
end

local NUMBERS = { 0, -0.0, 1, -1, 0.5, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 1, 2 ^ 53, 2 ^ 63, 1e308, 1e-308, 5e-324, 1 / 0, -1 / 0, 0 / 0, 255, 256, 65536 }

-- The bytes of a number constant: an integer, or a double in two halves.
local function number(n)
  if random(2) == 1 and n == floor(n) and math.abs(n) < 2 ^ 31 then return format.uleb(n % 2 ^ 32 * 2) end
  local low, high = 0, 0
  local bytes = encode(n + 0.0)
  for i = 3, 0, -1 do low, high = low * 256 + bytes:byte(-8 + i), high * 256 + bytes:byte(-4 + i) end
  return format.uleb(low * 2 + 1) .. format.uleb(high)
end

local function change_constant(p)
  local list = random(2) == 1 and p.kgc or p.knum
  if #list == 0 then list = list == p.kgc and p.knum or p.kgc end
  if #list == 0 then return end
  local i = any(list)
  if random(3) == 1 then
    local j = any(list)
    list[i], list[j] = list[j], list[i]
  elseif list == p.knum then
    list[i] = number(NUMBERS[any(NUMBERS)])
  else
    local bytes = list[i]
    local at = random(#bytes)
    list[i] = bytes:sub(1, at - 1) .. string.char(random(0, 255)) .. bytes:sub(at + 1)
  end
end

local function change_upvalue(p)
  if #p.uv == 0 then return change_operand(p) end
  local i, way = any(p.uv), random(5)
  if way == 1 then
    table.remove(p.uv)
  elseif way == 2 then
    p.uv[#p.uv + 1] = p.uv[i]
  else
    p.uv[i] = floor(p.uv[i] / 0x4000) % (way == 3 and 4 or 1) * 0x4000 + random(0, 3) * (way == 4 and 0x4000 or 0) + random(0, 12)
  end
end

local FLAGS = { 1, 2, 0x80, 4 }

local function change_sizes(p)
  local way = random(4)
  if way == 1 then
    p.params = (p.params + random(-2, 2)) % 256
  elseif way == 2 then
    p.frame = (p.frame + random(-3, 3)) % 256
  elseif way == 3 then
    p.frame = random(1, 255)
  else
    p.flags = bit.bxor(p.flags, FLAGS[any(FLAGS)])
  end
end

local WAYS = { change_operand, change_operand, change_operand, change_operand, change_operation, change_operation, swap, copy,
  insert, remove, change_constant, change_constant, change_upvalue, change_sizes }

function mutations.change(p)
  if #p.bc == 0 then return change_sizes(p) end
  WAYS[any(WAYS)](p)
end

return mutations
