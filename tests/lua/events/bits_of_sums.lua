-- What the loops of hash functions, of digits and of buffers are compiled to: see recorder/src/opt/narrow.rs (`bits_of_sum`), the quotients of
-- recorder/src/opt/fold/arith.rs, and recorder/src/rec/stdlib/buffer.rs.
local bit = require "bit"
local buffer = require "string.buffer"
local ir = require "ir"
jit.opt.start("hotloop=20", "hotexit=20")

local function check(name, wanted)
  local trace = ir.newest()
  for op, count in pairs(wanted) do
    local n = ir.count(trace, op, true)
    if n ~= count then error(("%s: %d %s in the loop instead of %d"):format(name, n, op, count)) end
  end
end
jit.off(check)

-- A constant above 2^31 is a number that is checked; the sum is one of ints.
local constants = {}
for i = 1, 200 do constants[i] = 2 ^ 31 + i * 77777 end
local function hash(k)
  local a, b = 1, 2
  for i = 1, #k do a, b = b, bit.tobit(bit.rol(bit.bxor(a, b), 7) + k[i]) end
  return a + b
end
hash(constants)
check("a loaded constant", { TOBIT = 0, CONV = 1, ADD = 2 })

local function linear(n, d)
  local s = 0
  for _ = 1, n do s = bit.tobit(s + d) end
  return s
end
linear(200, 0x9E3779B9)
check("an invariant", { TOBIT = 0, CONV = 0, ADD = 2 })

-- Two terms that are not known are not both checked.
local function two(k)
  local s = 0
  for i = 2, #k do s = bit.bxor(s, bit.tobit(k[i] + k[i - 1] + i)) end
  return s
end
two(constants)
check("two loaded numbers", { TOBIT = 1 })

-- Sums of 32-bit integers that are stored as such.
local ffi = require "ffi"
local function mixed(x, n)
  for i = 0, n - 1 do x[i % 16] = x[i % 16] + x[(i + 5) % 16] * 3 end
  return x[0]
end
mixed(ffi.new("uint32_t[16]", 0xFFFFFFF1), 200)
do
  local trace = ir.newest()
  for ref = 1, require "jit.util".traceinfo(trace).nins do
    local op = ir.op(trace, ref)
    local _, ot = require "jit.util".traceir(trace, ref)
    -- 14 is the type of nums.
    if ot % 32 == 14 and (op == "ADD" or op == "MUL") then error("a sum of 32-bit integers is one of nums") end
  end
end

-- Remainder and quotient.
local function remainder_first(n, y)
  local s = 0
  for x = 1, n do s = s + x % y + math.floor(x / y) end
  return s
end
remainder_first(200, 7)
check("a remainder, then a quotient", { MOD = 1, DIV = 1, FPMATH = 0 })
local function growing(n)
  local s = 0
  for y = 1, n do s = s + 1000 % y end
  return s
end
growing(200)
check("a remainder by a divisor that grows", { MOD = 1, GT = 0, NE = 0 })
local function quotient_first(n, y)
  local s = 0
  for x = 1, n do s = s + math.floor(x / y) + x % y end
  return s
end
quotient_first(200, 7)
check("a quotient, then a remainder", { MOD = 0, DIV = 1, FPMATH = 1 })

-- Methods of buffers are calls of helpers.
local function methods(n)
  local b, s = buffer.new(), 0
  for i = 1, n do
    b:put("abc", i)
    b:skip(1)
    s = s + #b + #b:get(1) + #b:tostring()
    b:reset()
    b:putf("%d of %s", i, "many")
    b:set("text")
  end
  return s
end
methods(200)
check("methods of a buffer", { NATIVE = 1 })
print "ok"
