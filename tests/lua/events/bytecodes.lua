-- For each bytecode a hot loop with it, checked to become a trace that loops, without an abort on the way.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
jit.off(true, true)

-- What stands in the loop over `i`, and adds to `s`. What comes before it is in front of a bar; in front of a colon, if the loop is
-- another one.
local cases = {
  ISLT = "if not (i < 5) then s = s + 1 end s = s + 1",
  ISGE = "if i < n then s = s + 1 end",
  ISLE = "if not (i <= 5) then s = s + 1 end",
  ISGT = "if i <= n then s = s + 1 end s = s + 1",
  ISEQV = "local x = 5 | if i ~= x then s = s + 1 end",
  ISNEV = "local x = 5 | if i == x then s = s + 1 end",
  ISEQS = "local x = 'a' | if x ~= 'b' then s = s + 1 end",
  ISNES = "local x = 'a' | if x == 'a' then s = s + 1 end",
  ISEQN = "if i ~= 3 then s = s + 1 end",
  ISNEN = "if i == 3 then s = s + 1 end",
  ISEQP = "local x | if x ~= nil then s = s + 1 end s = s + 2",
  ISNEP = "local x | if x == nil then s = s + 1 end",
  ISTC = "local x = 7 | local y = x or i s = s + y",
  ISFC = "local x = 7 | local y = x and i s = s + y",
  IST = "local x = 7 | if not x then s = s + 1 end s = s + 1",
  ISF = "local x = 7 | if x then s = s + 1 end",
  MOV = "local x = i s = x",
  NOT = "local x = not s s = s + (x and 1 or 2)",
  UNM = "s = -i",
  LEN = "local t = { 1, 2 } | s = s + #t",
  ADDVN = "s = s + 1",
  SUBVN = "s = s - 1",
  MULVN = "s = i * 2",
  DIVVN = "s = i / 2",
  MODVN = "s = i % 7",
  ADDNV = "s = 2 + i",
  SUBNV = "s = 2 - i",
  MULNV = "s = 2 * i",
  DIVNV = "s = 2 / i",
  MODNV = "s = 2 % i",
  ADDVV = "s = s + i",
  SUBVV = "s = s - i",
  MULVV = "s = n * i",
  DIVVV = "s = n / i",
  MODVV = "s = n % i",
  POW = "s = i ^ 0.5",
  CAT = "local x = 'a' .. i s = s + #x",
  KSTR = "local x = 'a' s = x",
  KCDATA = "local x = 5LL s = s + tonumber(x)",
  KSHORT = "local x = 5 s = s + x",
  KNUM = "local x = 1.5 s = x",
  KPRI = "local x = true s = x",
  KNIL = "local x, y s = x",
  UGET = "local x = 1 local function f() return x end | s = s + f()",
  USETV = "local x = 1 local function f(y) x = y end | f(i) s = s + x",
  USETS = "local x = 1 local function f() x = 'a' end | f() s = x",
  USETN = "local x = 1 local function f() x = 2 end | f() s = x",
  USETP = "local x = 1 local function f() x = nil end | f() s = x",
  UCLO = "local x = i local function f() return x end s = s + f()",
  FNEW = "local f = function() return n end s = s + f()",
  TNEW = "local t = {} t[1] = i s = s + t[1]",
  TDUP = "local t = { x = 1 } s = s + t.x",
  GGET = "s = s + #_VERSION",
  GSET = "global = i s = i",
  TGETV = "local t = { 1, 2 } | s = s + t[i % 2 + 1]",
  TGETS = "local t = { x = 1 } | s = s + t.x",
  TGETB = "local t = { 1 } | s = s + t[1]",
  TSETV = "local t = { 1, 2 } | t[i % 2 + 1] = i s = s + t[1]",
  TSETS = "local t = { x = 1 } | t.x = i s = s + t.x",
  TSETB = "local t = { 1 } | t[1] = i s = s + t[1]",
  TSETM = "local function f(x) return x, x + 1 end | local t = { i, f(i) } s = s + t[3]",
  CALLM = "local function f(x) return x, x + 1 end local function g(x, y) return x + y end | s = s + g(f(i))",
  CALL = "local function f(x) return x end | s = s + f(i)",
  CALLMT = "local function f(x) return x, x + 1 end local function g(x) return f(f(x)) end | s = s + g(i)",
  CALLT = "local function f(x) return x end local function g(x) return f(x) end | s = s + g(i)",
  ITERC = "local function f(n, i) i = i + 1 if i <= n then return i end end : for i in f, n, 0 do s = s + i end",
  ITERL = "local function f(n, i) i = i + 1 if i <= n then return i end end : for i in f, n, 0 do s = s + i end",
  ITERN = "local t = {} for i = 1, n do t[i] = i end : for k, v in pairs(t) do s = s + k * v end",
  VARG = "local function f(...) local x = ... return x end | s = s + f(i)",
  ISNEXT = "local t = {} | for k, v in pairs(t) do s = s + v end s = s + i",
  RETM = "local function f(x) return x end local function g(x) return 1, f(x) end | local a, b = g(i) s = s + a + b",
  RET = "local function f(x) return x, 2 end | local a, b = f(i) s = s + a + b",
  RET0 = "local function f(x) end | f(i) s = s + i",
  RET1 = "local function f(x) return x end | s = s + f(i)",
  FORI = "for j = 1, 0 do s = s + j end s = s + i",
  FORL = "s = s + i",
  LOOP = "local i = 0 : while i < n do i = i + 1 s = s + i end",
  JMP = "local x = 7 | if x then s = s + 1 else s = s + 2 end",
  BNOT = "s = ~i",
  BAND = "s = i & n",
  BOR = "s = i | n",
  BXOR = "s = i ~ n",
  BSHL = "s = n << i",
  BSHR = "s = n >> i",
  BSAR = "s = n ~>> i",
  FUNCF = "local function f(x) return x end | s = s + f(i)",
  FUNCV = "local function f(...) return ... end | s = s + f(i)",
  FUNCC = "s = s + #tostring(i)",
}
-- In no function's code: what waits for the FFI; what LuaJIT's own library is made of, which `load` refuses; the wrapped form of
-- FUNCC, what stands after calls, and the headers of builtins that switch coroutines or are fast functions, which are reported as any builtin's.
local unused = { ISTYPE = true, ISNUM = true, TGETR = true, TSETR = true, FUNCCW = true, STITCH = true,
  RESUME = true, WRAP = true, YIELD = true, FASTFN = true }

local function bytecode(op) return (vmdef.bcnames:sub(op * 6 + 1, op * 6 + 6):gsub(" ", "")) end
local known = {}
for name in vmdef.bcnames:gmatch "......" do known[name:match "%S+"] = true end
-- Forms of others: `I`: not to be compiled, `J`: compiled.
local function form_of(name)
  local base = name:match "^[IJ](.*)$"
  return known[base] and base or name
end

-- Loops around others: those become hot first, and leave at once.
local around = { ISNEXT = "leaving loop in root trace" }

local name, aborts, loops, path
jit.attach(function(what, number, _, pc, code, info)
  if what == "start" then
    path = { pc = pc, seen = {} }
  elseif what == "abort" and (path.pc == 0 or vmdef.traceerr[code] == "JIT compilation disabled for function") then
    -- Not the loop but the function around it, which is hot by chance, as hot counters are shared; or what comes after the loop.
  elseif what == "abort" and vmdef.traceerr[code] ~= around[name] then
    aborts[#aborts + 1] = tostring(vmdef.traceerr[code]) .. " " .. tostring(info)
  elseif what == "stop" and util.traceinfo(number).linktype == "loop" then
    loops[#loops + 1] = path.seen
  end
end, "trace")
jit.attach(function(_, func, pc)
  path.seen[pc < 0 and "FUNCC" or form_of(bytecode(util.funcbc(func, pc) % 256))] = true
end, "record")

local failures = {}
local function check()
  local case = cases[name]
  if not case then failures[#failures + 1] = name .. ": no case" return end
  local before, own, body = case:match "^(local.-) ([|:]) (.*)$"
  body = body or case
  if own ~= ":" then body = "for i = 1, n do " .. body .. " end" end
  local f = assert(loadstring(("local n = ... local s = 0 %s %s return s"):format(before or "", body), "=" .. name))
  jit.off(f, true)
  local interpreted = f(200)
  jit.on(f, true)
  jit.flush()
  aborts, loops = {}, {}
  local compiled = f(200)
  local fits = false
  for _, seen in ipairs(loops) do fits = fits or seen[name] end
  if compiled ~= interpreted then
    failures[#failures + 1] = name .. ": " .. tostring(compiled) .. ", interpreted " .. tostring(interpreted)
  end
  if #aborts > 0 or not fits then
    failures[#failures + 1] = ("%s: %d loops, %s"):format(name, #loops, table.concat(aborts, ", "))
  end
end
for padded in vmdef.bcnames:gmatch "......" do
  name = padded:match "%S+"
  if form_of(name) == name and not unused[name] then check() end
end
assert(#failures == 0, "\n" .. table.concat(failures, "\n"))
print "ok"
