-- The bits of a NaN that an operation on constants makes do not depend on whether the loop is compiled.
local ffi = require "ffi"
local u = ffi.new "union { double d; uint32_t w[2]; }"
local f = ffi.new "union { float f; uint32_t w; }"
local huge = math.huge
local seen, signs = {}, 0
for i = 1, 300 do
  u.d = 0/0
  local quotient = u.w[1]
  u.d = huge - huge
  local difference = u.w[1]
  u.d = huge * 0
  local product = u.w[1]
  f.f = 0/0
  local key = table.concat({ quotient, difference, product, f.w }, " ")
  if not seen[key] then seen[key], signs = true, signs + 1 end
end
print(signs)
