-- Indices of cdata are computed in 64 bits, where nothing is checked and nothing converted.
local ffi = require "ffi"
local ir = require "ir"
local util = require "jit.util"
jit.opt.start("hotloop=20", "hotexit=20")

-- What stands in the loop of the newest trace.
local function check(name, limits)
  local trace = ir.newest()
  for op, most in pairs(limits) do
    local n = ir.count(trace, op, true)
    if n > most then error(("%s: %d %s in the loop instead of %d"):format(name, n, op, most)) end
  end
end
-- How many conversions from one type to another stand in the newest trace, by the numbers of LuaJIT's types.
local function conversions(from, to)
  local n, trace = 0, ir.newest()
  for ref = 1, util.traceinfo(trace).nins do
    local _, _, _, how = util.traceir(trace, ref)
    if ir.op(trace, ref) == "CONV" and how % 32 == from and math.floor(how / 32) % 32 == to then n = n + 1 end
  end
  return n
end
jit.off(check)
jit.off(conversions)
local NUM, INT, U32, I64 = 14, 19, 20, 21
local bytes, doubles = ffi.new("uint8_t[4096]"), ffi.new("double[4096]")

-- Sums that are indices alone: only that of the variable is checked.
local function sums(n)
  local o = 0
  for i = 0, n, 3 do
    bytes[o], bytes[o + 1], bytes[o + 2], bytes[o + 3] = i, i, i, i
    o = o + 4
  end
  return o
end
sums(1000)
check("sums", { ADDOV = 1 })

-- Products and sums.
local function product(a, b, i, j)
  local s = 0
  for k = 0, 30 do s = s + a[i * 31 + k] * b[k * 31 + j] end
  return s
end
product(doubles, doubles, 2, 3)
check("product", { ADDOV = 0, MULOV = 0, SUBOV = 0 })

-- A num that stays the same is converted once.
local function shifted(v, len)
  local s = 0
  for k = 0, 100 do s = s + v[k + len / 2] * v[len / 2 - k + 100] end
  return s
end
shifted(doubles, 8)
check("shifted", { CONV = 1, ADD = 7, SUB = 1 })
assert(conversions(NUM, I64) == 0 and conversions(NUM, INT) == 1)

-- What is not negative is extended by zeros.
local function digits(n)
  local s = 0
  for i = 1, n do s = s + bytes[bit.band(i, 63)] + bytes[bit.rshift(i, 4)] + bytes[bytes[i]] end
  return s
end
digits(300)
assert(conversions(U32, I64) == 6 and conversions(INT, I64) == 2)

-- Grey levels fit an int, a num from memory may not.
local function grey(n)
  for i = 0, n do bytes[i] = 0.3 * bytes[i] + 0.59 * bytes[i + 1] + 0.11 * bytes[i + 2] end
end
grey(300)
assert(conversions(NUM, INT) == 2 and conversions(NUM, U32) == 0)
local function store(n)
  for i = 0, n do bytes[i] = doubles[i] * 0.5 end
end
store(300)
assert(conversions(NUM, INT) == 0 and conversions(NUM, U32) == 2)
print "ok"
