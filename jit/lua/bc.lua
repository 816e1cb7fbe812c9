-- Bytecode as text: what `-bl` lists and `-jbc` prints.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
local bit = require "bit"
-- The program may change the library.
local byte, format, gsub, sub = string.byte, string.format, string.gsub, string.sub
local band, rshift = bit.band, bit.rshift
local funcbc, funck = util.funcbc, util.funck

-- Kinds of operands, as in the second result of `funcbc`.
local NONE, UPVALUE, SIGNED, NUMBER, STRING, FUNCTION, JUMP = 0, 5, 7, 9, 10, 12, 13
-- A jump over no instruction.
local JUMP_BIAS = 0x7fff
-- What is added to the index that TSETM starts at.
local TSETM_BIAS = 2 ^ 52
-- More of a string is not shown.
local MAX_STRING = 40

local SHORT_ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function escape(c)
  return SHORT_ESCAPES[c] or format("\\%03d", byte(c))
end

local function opcode_name(ins)
  local at = 6 * band(ins, 0xff)
  return sub(vmdef.bcnames, at + 1, at + 6)
end

-- The kinds of operands A, B, and C or D.
local function kinds(modes)
  return band(modes, 7), band(rshift(modes, 3), 15), band(rshift(modes, 7), 15)
end

-- The address of an instruction that the one at `pc` jumps to.
local function jump_target(pc, ins)
  return pc + rshift(ins, 16) - JUMP_BIAS
end

-- A constant or the name of an upvalue; nil for other operands.
local function operand_text(func, name, kind, d)
  if kind == STRING then
    local s = funck(func, -d - 1)
    local text = gsub(s, "%c", escape)
    return format(#s > MAX_STRING and '"%.' .. MAX_STRING .. 's"~' or '"%s"', text)
  elseif kind == NUMBER then
    local n = funck(func, d)
    return name == "TSETM " and n - TSETM_BIAS or n
  elseif kind == FUNCTION then
    local info = util.funcinfo(funck(func, -d - 1))
    return info.ffid and vmdef.ffnames[info.ffid] or info.loc
  elseif kind == UPVALUE then
    return util.funcuvname(func, d)
  end
end

-- The line for the instruction at `pc`, with a prefix of two characters; nothing if there is none.
local function line(func, pc, prefix)
  local ins, modes = funcbc(func, pc)
  if not ins then return end
  local name, kind_a, kind_b, kind_d = opcode_name(ins), kinds(modes)
  local a, d = band(rshift(ins, 8), 0xff), rshift(ins, 16)
  local text = format("%04d %s %-6s %3s ", pc, prefix or "  ", name, kind_a == NONE and "" or a)
  if kind_d == JUMP then
    return format("%s=> %04d\n", text, jump_target(pc, ins))
  end
  if kind_b ~= NONE then
    d = band(d, 0xff)
  elseif kind_d == NONE then
    return text .. "\n"
  end
  local shown = operand_text(func, name, kind_d, d)
  if kind_a == UPVALUE then
    local upvalue = util.funcuvname(func, a)
    shown = shown and upvalue .. " ; " .. shown or upvalue
  end
  if kind_b ~= NONE then
    text = format("%s%3d %3d", text, rshift(ins, 24), d)
    return text .. (shown and "  ; " .. shown or "") .. "\n"
  end
  if shown then
    return format("%s%3d      ; %s\n", text, d, shown)
  end
  if kind_d == SIGNED and d > 0x7fff then d = d - 0x10000 end
  return format("%s%3d\n", text, d)
end

-- The set of the addresses that something jumps to.
local function targets(func)
  local set = {}
  local pc = 1
  while true do
    local ins, modes = funcbc(func, pc)
    if not ins then return set end
    local _, _, kind_d = kinds(modes)
    if kind_d == JUMP then set[jump_target(pc, ins)] = true end
    pc = pc + 1
  end
end

-- Writes the instructions of a function; before it those of the functions in it, if `all`.
local function dump(func, out, all)
  out = out or io.stdout
  local info = util.funcinfo(func)
  if all and info.children then
    local i = -1
    local k = funck(func, i)
    while k do
      if type(k) == "proto" then dump(k, out, true) end
      i = i - 1
      k = funck(func, i)
    end
  end
  out:write(format("-- BYTECODE -- %s-%d\n", info.loc, info.lastlinedefined))
  local is_target = targets(func)
  local pc = 1
  local text = line(func, pc, is_target[pc] and "=>")
  while text do
    out:write(text)
    pc = pc + 1
    text = line(func, pc, is_target[pc] and "=>")
  end
  out:write("\n")
  out:flush()
end

-- Where functions are listed as they are made.
local out

local function list(func)
  return dump(func, out)
end

local function off()
  if not out then return end
  jit.attach(list)
  if out ~= io.stdout and out ~= io.stderr then out:close() end
  out = nil
end

local function on(file)
  off()
  file = file or os.getenv("LUAJIT_LISTFILE")
  if not file then
    out = io.stderr
  else
    out = file == "-" and io.stdout or assert(io.open(file, "w"))
  end
  jit.attach(list, "bc")
end

return { line = line, dump = dump, targets = targets, on = on, off = off, start = on }
