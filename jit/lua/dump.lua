-- What the compiler makes of a program: what `-jdump` prints. The first argument is a string of letters: t traces, b bytecode as it
-- is recorded, i IR, s snapshots, r registers (this compiler has none to tell), m machine code, x exits, X exits with registers, a
-- also what is given up; T, A, H the output as text, with colours of a terminal, as HTML. `tbim` is the default; `+` or `-` in front
-- changes it. The second argument is the file to write to.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
local place = require "jit.place"
local bit = require "bit"
-- The program may change the library.
local byte, find, format, gmatch = string.byte, string.find, string.format, string.gmatch
local gsub, match, rep, sub = string.gsub, string.match, string.rep, string.sub
local band, rshift, arshift = bit.band, bit.rshift, bit.arshift
local traceir, tracek = util.traceir, util.tracek

local out
local active = false
local at_end
local show

-- Types of values by number, and how each is shown: colour of a terminal, class of a style sheet.
local TYPE_NAMES = {
  [0] = "nil", "fal", "tru", "lud", "str", "p32", "thr", "pro", "fun", "p64", "cdt", "tab", "udt", "flt", "num", "i8 ", "u8 ", "i16",
  "u16", "int", "u32", "i64", "u64", "sfp",
}
local ANSI = { lud = "36", str = "32", thr = "1", fun = "1", cdt = "33", tab = "31", udt = "36", num = "34", flt = "34" }
for _, name in ipairs { "i8 ", "u8 ", "i16", "u16", "int", "u32", "i64", "u64", "sfp" } do ANSI[name] = "35" end
local ESCAPES = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;" }
local STYLE = [[
<style type="text/css">
pre.ljdump { font-size: 10pt; background: #f4f6fb; color: #111; border: 1px solid #c4cde0; padding: 0.5em; margin: 1em 2em; }
.irt_str { color: #087a08; } .irt_tab { color: #b00000; } .irt_fun, .irt_thr { color: #444; font-weight: bold; }
.irt_udt, .irt_lud { color: #008a8a; } .irt_num { color: #3030b0; } .irt_int { color: #a030a0; }
</style>
]]

local painters = {
  T = function(text) return text end,
  A = function(text, kind)
    local code = ANSI[TYPE_NAMES[kind]]
    return code and format("\27[%sm%s\27[m", code, text) or text
  end,
  H = function(text, kind)
    return format('<span class="irt_%s">%s</span>', gsub(TYPE_NAMES[kind], " ", ""), (gsub(text, "[<>&]", ESCAPES)))
  end,
}
local paint = painters.T

-- Text of the program itself.
local function plain(text)
  return show.H and (gsub(text, "[<>&]", ESCAPES)) or text
end

local function control(c)
  local short = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
  return short[c] or format("\\%03d", byte(c))
end

local function location(func, pc) return plain(place.location(func, pc)) end

local function name_of(names, number)
  return sub(names, 6 * number + 1, 6 * number + 6)
end

------------------------------------------------------------------------------
-- Values

local POINTERS = 12 -- Numbers of types below this one are addresses, if they are numbers.
local FRAME = 0x30000 -- Flags of a snapshot: the slot belongs to a frame.
local BIAS = 2 ^ 52 + 2 ^ 51

local writers = {
  number = function(k, kind, flags)
    if band(flags, FRAME) ~= 0 then return "link" end
    if kind < POINTERS then return k == 0 and "NULL" or format("[0x%08x]", k) end
    return k == BIAS and "bias" or format("%+.14g", k)
  end,
  string = function(k)
    return format(#k > 20 and '"%.20s"~' or '"%s"', (gsub(k, "%c", control)))
  end,
  ["function"] = function(k) return location(k) end,
  table = function(k) return format("{%p}", k) end,
  userdata = function(k) return format("userdata:%p", k) end,
  proto = function(k) return location(k) end,
}

-- A constant.
local function constant(tr, ref, flags)
  local k, kind, slot = tracek(tr, ref)
  local writer = writers[type(k)]
  local text = writer and writer(k, kind, flags or 0) or tostring(k)
  text = paint(format("%-4s", text), kind)
  return slot and format("%s @%d", text, slot) or text
end

-- An operand: an instruction or a constant.
local function reference(tr, ref)
  return ref < 0 and constant(tr, ref) or format("%04d", ref)
end

------------------------------------------------------------------------------
-- Instructions

local SLOAD_FLAGS = { "P", "F", "T", "C", "R", "I", "K" }
local function flag_letters(flags)
  local text = ""
  for i, letter in ipairs(SLOAD_FLAGS) do
    if band(rshift(flags, i - 1), 1) ~= 0 then text = text .. letter end
  end
  return text
end

local CONVERSIONS = { "none", "index", "check" }
local function conversion(mode)
  local from, to = band(mode, 31), band(rshift(mode, 5), 31)
  local text = paint(TYPE_NAMES[to], to) .. "." .. paint(TYPE_NAMES[from], from)
  if band(mode, 0x800) ~= 0 then text = text .. " sext" end
  local how = CONVERSIONS[rshift(mode, 12)]
  return how and text .. " " .. how or text
end

-- What the literals of instructions mean.
local literals = {
  ["SLOAD "] = flag_letters,
  ["CONV  "] = conversion,
  ["XLOAD "] = function(flags) return band(flags, 1) ~= 0 and "R" or "" end,
  ["FLOAD "] = function(n) return vmdef.irfield[n] end,
  ["FREF  "] = function(n) return vmdef.irfield[n] end,
  ["FPMATH"] = function(n) return vmdef.irfpm[n] end,
  ["BUFHDR"] = function(n) return n == 0 and "RESET" or "APPEND" end,
  ["TOSTR "] = function(n) return ({ [0] = "INT", "NUM", "CHAR" })[n] end,
  ["UREFO "] = function(n) return format("#%-3d", rshift(n, 8)) end,
  ["UREFC "] = function(n) return format("#%-3d", rshift(n, 8)) end,
}

-- The arguments of a call: one, or a chain of CARG.
local function arguments(tr, ref)
  if ref >= 0 then
    local _, ot, a, b = traceir(tr, ref)
    if name_of(vmdef.irnames, rshift(ot, 8)) == "CARG  " then
      return arguments(tr, a) .. " " .. reference(tr, b)
    end
  end
  return reference(tr, ref)
end

local LITERAL, UNUSED = 1, 3 -- Modes of operands.

local function operands(tr, op, modes, a, b)
  local mode_a, mode_b = band(modes, 3), band(rshift(modes, 2), 3)
  if sub(op, 1, 4) == "CALL" then
    return format("%-10s  (%s)", vmdef.ircall[b] or b, a == -1 and "" or arguments(tr, a))
  end
  if mode_a == UNUSED then return "" end
  local text = mode_a == LITERAL and format("#%-3d", a) or reference(tr, a)
  if mode_b == UNUSED then return text end
  if mode_b == LITERAL then
    local literal = literals[op] and literals[op](b)
    return text .. "  " .. (literal or format("#%-3d", b))
  end
  return text .. "  " .. reference(tr, b)
end

local GUARD, LOOP_CARRIED = 128, 64
local SUNK = 254 -- The "register" of an instruction that is only done when the trace is left.

-- The line of an instruction.
local function instruction(tr, i)
  local modes, ot, a, b, place = traceir(tr, i)
  local op, kind = name_of(vmdef.irnames, rshift(ot, 8)), band(ot, 31)
  if op == "NOP   " or op == "CARG  " then return end
  local column = show.r and "       " or ""
  if op == "LOOP  " then
    return format("%04d %s------ LOOP ------------\n", i, show.r and "------" or "")
  end
  local mark = band(place, 255) == SUNK and "}" or band(ot, GUARD) ~= 0 and ">" or " "
  local carried = band(ot, LOOP_CARRIED) ~= 0 and "+" or " "
  local text = format("%04d %s%s%s %s %s %s", i, column, plain(mark), carried, paint(TYPE_NAMES[kind], kind), op, operands(tr, op, modes, a, b))
  return gsub(text, " +$", "") .. "\n"
end

-- The slots of a snapshot.
local function snapshot_text(tr, snap)
  local parts = {}
  local n = 2
  for slot = 0, snap[1] - 1 do
    local entry = snap[n]
    if rshift(entry, 24) == slot then
      n = n + 1
      local ref = band(entry, 0xffff) - 0x8000
      local text
      if ref < 0 then
        text = constant(tr, ref, entry)
      else
        local _, ot = traceir(tr, ref)
        text = paint(format("%04d", ref), band(ot, 31))
      end
      parts[#parts + 1] = text .. (band(entry, 0x10000) ~= 0 and "|" or " ")
    else
      parts[#parts + 1] = "---- "
    end
  end
  return table.concat(parts) .. "]\n"
end

local function write_ir(tr)
  local info = util.traceinfo(tr)
  if not info then return end
  out:write("---- TRACE ", tr, " IR\n")
  local number = 0
  local snap = show.s and util.tracesnap(tr, 0)
  local function write_snap()
    out:write(format("....        %sSNAP   #%-3d [ %s", show.r and "      " or "", number, snapshot_text(tr, snap)))
    number = number + 1
    snap = util.tracesnap(tr, number)
  end
  for i = 1, info.nins do
    while snap and i >= snap[0] do write_snap() end
    local line = instruction(tr, i)
    if line then out:write(line) end
  end
  while snap do write_snap() end
end

local function write_snapshots(tr)
  out:write("---- TRACE ", tr, " snapshots\n")
  local number = 0
  local snap = util.tracesnap(tr, 0)
  while snap do
    out:write(format("#%-3d %04d [ %s", number, snap[0], snapshot_text(tr, snap)))
    number = number + 1
    snap = util.tracesnap(tr, number)
  end
end

------------------------------------------------------------------------------
-- Machine code

-- Names of addresses: helpers and exits.
local function symbols(tr, exits)
  local names = {}
  for i = 0, #vmdef.ircall do
    local address = util.ircalladdr(i)
    if address ~= 0 then names[address] = vmdef.ircall[i] end
  end
  for i = 0, exits - 1 do
    local address = util.traceexitstub(tr, i)
    if address then names[address] = tostring(i) end
  end
  return names
end

local function write_code(tr)
  local info = util.traceinfo(tr)
  local code, address, loop = util.tracemc(tr)
  if not info or not code then return end
  out:write("---- TRACE ", tr, " mcode ", #code, "\n")
  local lines = require("jit.dis_" .. jit.arch).create(code, address, function(text) out:write(plain(text)) end)
  lines.hexdump = 0
  lines.symtab = symbols(tr, info.nexit)
  if loop ~= 0 then
    lines.symtab[address + loop] = "LOOP"
    lines:disass(0, loop)
    out:write(plain("->LOOP:\n"))
  end
  lines:disass(loop, #code - loop)
end

------------------------------------------------------------------------------
-- Events

local function ending(tr)
  local info = util.traceinfo(tr)
  local link, kind = info.link, info.linktype
  if link == tr or link == 0 then return kind end
  return kind == "root" and link or link .. " " .. kind
end

local function write_trace(tr)
  if show.i then write_ir(tr) elseif show.s then write_snapshots(tr) end
  if show.m then write_code(tr) end
end

local handlers = {}

function handlers.trace(what, tr, func, pc, other, detail)
  if what == "start" then
    if show.H then out:write('<pre class="ljdump">\n') end
    local from = other and format(" %d/%s", other, detail == -1 and "stitch" or detail) or ""
    out:write("---- TRACE ", tr, " start", from, " ", location(func, pc), "\n")
  elseif what == "stop" or what == "abort" then
    if what == "stop" or show.a then write_trace(tr) end
    if what == "stop" then
      out:write("---- TRACE ", tr, plain(" stop -> "), ending(tr), "\n")
    else
      out:write("---- TRACE ", tr, " abort ", location(func, pc), " -- ", plain(place.reason(other, detail)), "\n")
    end
    out:write(show.H and "</pre>\n\n" or "\n")
  else
    out:write("---- TRACE ", what, "\n\n")
  end
  out:flush()
end

local COMPARISONS = 16 -- Instructions numbered below this are followed by a jump that belongs to them.

function handlers.record(_, func, pc, depth)
  local line = require("jit.bc").line
  local prefix = rep(" .", depth)
  local text = pc >= 0 and plain(line(func, pc, prefix)) or format("0000 %s FUNCC      \n", prefix)
  if pc <= 0 then text = format("%s         ; %s\n", sub(text, 1, -2), location(func)) end
  out:write(text)
  if pc >= 0 and band(util.funcbc(func, pc), 0xff) < COMPARISONS then
    out:write(plain(line(func, pc + 1, prefix)))
  end
end

function handlers.texit(tr, exit, general, floating, ...)
  out:write("---- TRACE ", tr, " exit ", exit, "\n")
  if not show.X then return end
  for i = 1, general + floating do
    out:write(format(i > general and " %+17.14g" or " %016x", (select(i, ...))), i % 4 == 0 and "\n" or "")
  end
end

------------------------------------------------------------------------------

local function off()
  if not active then return end
  active = false
  at_end = nil
  for _, handler in pairs(handlers) do jit.attach(handler) end
  if out ~= io.stdout and out ~= io.stderr then out:close() end
  out = nil
end

-- What the letters ask for.
local function choose(letters)
  local set = { t = true, b = true, i = true, m = true }
  local style
  letters = gsub(letters, "[TAH]", function(c)
    style = c
    return ""
  end)
  local change = match(letters, "^[+-]")
  if letters ~= "" and not change then set = {} end
  for c in gmatch(letters, "%a") do set[c] = change ~= "-" end
  local term = os.getenv("TERM")
  local colours = term and find(term, "color", 1, true) or not term and os.getenv("COLORTERM")
  style = style or colours and "A" or "T"
  set[style] = true
  return set, style
end

local function on(letters, file)
  off()
  local style
  show, style = choose(letters or "")
  paint = painters[style]
  file = file or os.getenv("LUAJIT_DUMPFILE")
  out = (not file or file == "-") and io.stdout or assert(io.open(file, "w"))
  if style == "H" then out:write(STYLE) end
  if show.t or show.b or show.i or show.s or show.m then jit.attach(handlers.trace, "trace") end
  if show.b then jit.attach(handlers.record, "record") end
  if show.x or show.X then jit.attach(handlers.texit, "texit") end
  active = true
  at_end = place.explain_at_end(function() return active and out end, "---- %s\n")
end

return { on = on, off = off, start = on }
