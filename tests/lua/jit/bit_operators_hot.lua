-- Bit operators in hot loops: the same as the bit library, whatever the operands are; and compiled.

local vmdef = require "jit.vmdef"
local unsupported = {}
local function watch(what, _, _, _, code, info)
  if what == "abort" then
    local text = tostring(vmdef.traceerr[code]):format(info)
    if text:find "bytecode" then unsupported[#unsupported + 1] = text end
  end
end
jit.attach(watch, "trace")

local x, y = 1, 1
local bxor, lshift, rshift = bit.bxor, bit.lshift, bit.rshift
for _ = 1, 2000 do
  x ~= x << 13 x ~= x >> 17 x ~= x << 5
  y = bxor(y, lshift(y, 13)) y = bxor(y, rshift(y, 17)) y = bxor(y, lshift(y, 5))
end
print(x, x == y)

-- Operands that change kind: integers, doubles, values beyond 32 bits, negative zero.
local operands = { 1, -1, 0, 2.5, -2.5, 2^31, -2^31, 2^32 + 7, 1e15, 0xdeadbeef, 31, 32, 33, -0.0 }
local differ, sum = 0, 0
for round = 1, 20 do
  for i = 1, #operands do
    local a, b = operands[i], operands[(i * round) % #operands + 1]
    if (a & b) ~= bit.band(a, b) or (a | b) ~= bit.bor(a, b) or (a ~ b) ~= bit.bxor(a, b) or ~a ~= bit.bnot(a)
      or (a << b) ~= bit.lshift(a, b) or (a >> b) ~= bit.rshift(a, b) or (a ~>> b) ~= bit.arshift(a, b) then
      differ += 1
    end
    sum += (a & b) % 7 + (a ~>> 3) % 11 + (a << b) % 13
  end
end
print(differ, sum)

-- Shift counts that change, constants on either side, results that are not integers any more.
local h, n = 5381, 0
for i = 1, 500 do
  h = (h << 5) + h + (i & 0xff)
  h = h & 0x7fffffff
  n += 1 << i & 0xff | 256 >> i % 9
  n = n / 2
  n = n | 0
end
print(h, n)
jit.attach(watch)
print("not compiled:", table.concat(unsupported, ", "))

-- An operand that is no number stops the trace, with the message of the interpreter.
local list = {}
for i = 1, 100 do list[i] = i end
list[90] = "90"
local seen = 0
print(pcall(function() for i = 1, 100 do seen = list[i] | 0 end end))
print(seen)
list[90] = nil
print(pcall(function() for i = 1, 100 do seen = ~list[i] end end))
print(seen)
