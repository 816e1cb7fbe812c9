-- What jit.util tells: every form of arguments, every field, every encoding.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
assert(rawget(jit, "util") == nil and package.loaded["jit.util"] == util and package.loaded["jit.opt"] == jit.opt)
local band, rshift = bit.band, bit.rshift
local floor = math.floor

-- The tables of names.
local function packed(names) return #names % 6 == 0 and #names / 6 end
assert(packed(vmdef.bcnames) >= 97 and packed(vmdef.irnames) >= 98)
assert(vmdef.bcnames:sub(1, 24) == "ISLT  ISGE  ISLE  ISGT  ", "comparisons come first")
for i = 0, 15 do assert(vmdef.bcnames:sub(6 * i + 1, 6 * i + 2) == "IS") end
assert(vmdef.bcnames:sub(6 * 16 + 1, 6 * 16 + 6) == "ISTYPE")
local function name(names, i) return (names:sub(6 * i + 1, 6 * i + 6):gsub(" +$", "")) end
for _, op in ipairs { "LOOP", "NOP", "CARG", "SLOAD", "XLOAD", "CONV", "FLOAD", "FREF", "FPMATH", "BUFHDR", "TOSTR", "UREFO", "UREFC", "PROF" } do
  assert(vmdef.irnames:find(("%-6s"):format(op), 1, true))
end
for _, list in ipairs { "irfpm", "irfield", "ircall", "traceerr", "ffnames" } do
  assert(vmdef[list][0], list)
  for i = 0, #vmdef[list] do assert(type(vmdef[list][i]) == "string") end
end
assert(#vmdef.traceerr == 34 and vmdef.traceerr[7] == "NYI: bytecode %s")
assert(vmdef.traceerr[15]:find "%%s" and vmdef.traceerr[32]:find "%%d")
assert(vmdef.ffnames[0] == "Lua" and vmdef.ffnames[1] == "C" and vmdef.ffnames[2] == "assert")
for _, f in ipairs { { print, "print" }, { string.format, "string.format" }, { jit.on, "jit.on" }, { util.funcinfo, "jit.util.funcinfo" },
  { jit.opt.start, "jit.opt.start" }, { io.stdout.read, "io.method.read" }, { math.deg, "math.deg" } } do
  local id = util.funcinfo(f[1]).ffid
  assert(vmdef.ffnames[id] == f[2], f[2])
  assert(tostring(f[1]) == "function: builtin#" .. id)
end

-- funcinfo
local chunk = loadstring("local a, b = ...\nlocal function f(x, y)\n  return a, x\nend\nreturn f, function(...) return ... end\n", "@dir/sub/name.lua")
local f, g = chunk(1)
local info = util.funcinfo(f)
for key, value in pairs { linedefined = 2, lastlinedefined = 4, params = 2, nconsts = 0, gcconsts = 0, upvalues = 1, currentline = 2,
  isvararg = false, children = false, source = "@dir/sub/name.lua", loc = "name.lua:2" } do
  assert(info[key] == value, key)
end
assert(type(info.stackslots) == "number" and info.bytecodes > 2 and type(info.proto) == "proto")
assert(util.funcinfo(g).isvararg == true and util.funcinfo(chunk).children == true and util.funcinfo(chunk).linedefined == 0)
assert(util.funcinfo(f, 1).currentline == 3 and util.funcinfo(f, 1).loc == "name.lua:3" and util.funcinfo(f, "1").currentline == 3)
assert(util.funcinfo(f, 100).currentline == nil and util.funcinfo(f, 100).loc == "name.lua:0" and util.funcinfo(f, -1).currentline == nil)
assert(util.funcinfo(info.proto).linedefined == 2 and util.funcinfo(info.proto).proto == info.proto)
local function location(name) return util.funcinfo(loadstring("return 1", name)).loc end
assert(location "=name" == "name:0" and location "@a\\b.lua" == "b.lua:0" and location "return 1" == '"return 1":0')
assert(location("=" .. ("x"):rep(50)):match "^0x%x+:0$" and location("@" .. ("x"):rep(50)) == ("x"):rep(50) .. ":0")
local stripped = loadstring(string.dump(f, true))
assert(util.funcinfo(stripped, 1).currentline == 0)
local builtin = util.funcinfo(print)
assert(builtin.ffid and builtin.addr > 0 and builtin.upvalues >= 0 and builtin.loc == nil and builtin.proto == nil)
assert(util.funcinfo(package.loadlib or require).addr > 0)

-- funcbc
local function instruction(func, pc)
  local ins, modes = util.funcbc(func, pc)
  return name(vmdef.bcnames, band(ins, 255)), band(rshift(ins, 8), 255), rshift(ins, 16), modes, ins
end
assert(instruction(f, 0) == "FUNCF" and instruction(g, 0) == "FUNCV" and instruction(f, "0") == "FUNCF")
assert(select("#", util.funcbc(f, -1)) == 0 and select("#", util.funcbc(f, info.bytecodes)) == 0)
assert(select("#", util.funcbc(info.proto, 1)) == 2)
do
  local op, a, d, modes = instruction(f, 1)
  assert(op == "UGET" and d == 0 and band(modes, 7) == 1 and band(rshift(modes, 3), 15) == 0 and band(rshift(modes, 7), 15) == 5)
  local h = loadstring "local t = ... for i = 1, 3 do t.x = i + 1.5 t[i] = -7 end return { t }, not t"
  local seen = {}
  for pc = 1, util.funcinfo(h).bytecodes - 1 do
    local op, a, d, modes, ins = instruction(h, pc)
    seen[op] = { a = a, d = d, modes = modes, pc = pc }
    assert(ins == floor(ins) and ins >= -2 ^ 31 and ins < 2 ^ 31, "a signed word")
  end
  assert(util.funck(h, -band(seen.TSETS.d, 255) - 1) == "x")
  assert(util.funck(h, band(seen.ADDVN.d, 255)) == 1.5 and band(rshift(seen.ADDVN.modes, 7), 15) == 9 and rshift(seen.ADDVN.modes, 11) == 10)
  assert(seen.KSHORT.d == 65536 - 7 and band(rshift(seen.KSHORT.modes, 7), 15) == 7)
  assert(seen.FORL.pc + seen.FORL.d - 0x7fff == seen.FORI.pc + 1 and band(rshift(seen.FORL.modes, 7), 15) == 13)
  assert(rshift(seen.TSETS.modes, 11) == 1 and rshift(seen.FORL.modes, 11) == 22)
end

-- funck, funcuvname
do
  local h = loadstring "local t = { 1, 2, x = 3 } return 'text', 12.5, 1e300, function() return t end, t"
  local info = util.funcinfo(h)
  local kinds = {}
  for i = -1, -info.gcconsts, -1 do kinds[type(util.funck(h, i))] = true end
  assert(kinds.string and kinds.table and kinds.proto and select("#", util.funck(h, -info.gcconsts - 1)) == 0)
  local numbers = {}
  for i = 0, info.nconsts - 1 do numbers[util.funck(h, i)] = true end
  assert(numbers[12.5] and numbers[1e300] and select("#", util.funck(h, info.nconsts)) == 0)
  local m = loadstring "return { ... }"
  local constant
  for pc = 1, util.funcinfo(m).bytecodes - 1 do
    local op, _, d = instruction(m, pc)
    if op == "TSETM" then constant = util.funck(m, d) end
  end
  assert(constant == 2 ^ 52 + 1, "the biased start of TSETM")
  assert(util.funcuvname(f, 0) == "a" and util.funcuvname(info.proto, 0) == nil)
  assert(select("#", util.funcuvname(f, 1)) == 0 and select("#", util.funcuvname(f, -1)) == 0)
  assert(select("#", util.funcuvname(stripped, 0)) == 0)
end

------------------------------------------------------------------------------
-- Traces

jit.flush()
local up = 0
local function hot(t, n)
  local s = 0
  for i = 1, n do
    local v = t[i]
    if i > n - 30 then s = s + v.x * 2 end
    up = s
    t[i] = { x = v.x, y = "s" .. i % 3, z = math.floor(i / 2), w = #t }
  end
  return s
end
local t = {}
for i = 1, 200 do t[i] = { x = i + 0.5 } end
jit.flush()
for _ = 1, 30 do hot(t, 200) end

local LINKS = { none = 1, root = 1, loop = 1, ["tail-recursion"] = 1, ["up-recursion"] = 1, ["down-recursion"] = 1, interpreter = 1, ["return"] = 1, stitch = 1 }
local KINDS = { [0x00] = true, [0x20] = true, [0x40] = true, [0x60] = true }
local found = { sides = 0, ops = {}, kinds = {} }

local function check_reference(tr, ref)
  if ref >= 0 then
    assert(util.traceir(tr, ref))
  else
    local n = select("#", util.tracek(tr, ref))
    assert(n == 2 or n == 3)
    local k, kind, slot = util.tracek(tr, ref)
    assert(kind >= 0 and kind < 24 and (slot == nil or slot >= 0))
    found.kinds[type(k)] = true
  end
end

local tr = 1
while util.traceinfo(tr) do
  local info = util.traceinfo(tr)
  assert(LINKS[info.linktype] and info.nins > 0 and info.nk >= 3 and info.nexit > 0 and info.link >= 0)
  local keys = 0
  for _ in pairs(info) do keys = keys + 1 end
  assert(keys == 5)
  -- Constants.
  assert(util.tracek(tr, -1) == nil and util.tracek(tr, -2) == false and util.tracek(tr, -3) == true)
  assert(select(2, util.tracek(tr, -1)) == 0 and select(2, util.tracek(tr, -2)) == 1 and select(2, util.tracek(tr, -3)) == 2)
  for ref = -info.nk, -1 do check_reference(tr, ref) end
  assert(select("#", util.tracek(tr, -info.nk - 1)) == 0 and select("#", util.tracek(tr, 0)) == 0 and select("#", util.tracek(tr, 1)) == 0)
  -- Instructions.
  assert(select("#", util.traceir(tr, info.nins + 1)) == 0 and select("#", util.traceir(tr, -1)) == 0)
  for ref = 0, info.nins do
    local modes, ot, a, b, place = util.traceir(tr, ref)
    assert(select("#", util.traceir(tr, ref)) == 5)
    local op, kind = name(vmdef.irnames, rshift(ot, 8)), band(ot, 31)
    assert(op ~= "" and kind < 24 and KINDS[band(modes, 0x60)] and (place == 255 or place == 254))
    found.ops[op] = true
    if op ~= "NOP" and op ~= "BASE" then
      if band(modes, 3) == 0 and not (op:sub(1, 4) == "CALL" and a == -1) then check_reference(tr, a) end
      if band(modes, 12) == 0 then check_reference(tr, b) end
      if op:sub(1, 4) == "CALL" and band(modes, 12) == 4 then
        assert(vmdef.ircall[b])
        assert(type(util.ircalladdr(b)) == "number")
      end
      if op == "FLOAD" then assert(vmdef.irfield[b]) end
      if op == "FPMATH" then assert(vmdef.irfpm[b]) end
    end
    if op == "BASE" then
      assert(ref == 0)
      if a ~= 0 then
        found.sides = found.sides + 1
        assert(util.traceinfo(a) and b < util.traceinfo(a).nexit, "a side trace says where it begins")
      end
    end
  end
  -- Snapshots.
  assert(select("#", util.tracesnap(tr, info.nexit)) == 0 and select("#", util.tracesnap(tr, -1)) == 0)
  local before = 0
  for i = 0, info.nexit - 1 do
    local snap, pc = util.tracesnap(tr, i, true)
    assert(select("#", util.tracesnap(tr, i)) == 1 and type(pc) == "number" and pc >= 0)
    assert(snap[0] >= before and snap[1] >= 0)
    before = snap[0]
    assert(snap[#snap] == -16777216, "the sentinel")
    local last = -1
    for n = 2, #snap - 1 do
      local entry = snap[n]
      local slot = rshift(entry, 24)
      assert(slot > last and slot < snap[1] and band(entry, 0x00f80000) == 0)
      last = slot
      check_reference(tr, band(entry, 0xffff) - 0x8000)
    end
  end
  -- Machine code.
  local code, address, loop = util.tracemc(tr)
  if code then
    assert(#code > 0 and address > 0 and address % 1 == 0 and loop >= 0 and loop < #code)
    assert((loop ~= 0) == (info.linktype == "loop" and found.ops.LOOP ~= nil) or true)
    for i = 0, info.nexit - 1 do assert(util.traceexitstub(tr, i) > 0) end
  end
  assert(select("#", util.traceexitstub(tr, info.nexit)) == 0 and select("#", util.traceexitstub(tr, -1)) == 0)
  tr = tr + 1
end
assert(tr > 2 and found.sides > 0, "there are side traces")
for _, op in ipairs { "SLOAD", "LOOP", "PHI", "ALOAD", "HREFK", "HLOAD", "ABC", "TNEW", "CONV", "FLOAD" } do
  assert(found.ops[op] or op == "TNEW" and found.ops.TDUP, op)
end
assert(found.kinds.number and found.kinds.string and found.kinds["function"])
assert(select("#", util.traceexitstub(0)) == 0, "exits are those of a trace")
for i = 0, #vmdef.ircall do assert(type(util.ircalladdr(i)) == "number") end
assert(select("#", util.ircalladdr(-1)) == 0)
assert(select("#", util.tracemc(0)) == 0 and select("#", util.tracemc(99999)) == 0)
print "ok"
