-- A C function that returns a boolean, of which one in a hundred or two hundred is the other one.
local ffi = require "ffi"
ffi.cdef [[ bool nonzero(int) __asm__("abs"); ]]
local nonzero = ffi.C.nonzero

local at
for i = -100, 100 do
  if not nonzero(i) then at = i end
end
print(at)

local numbers = {}
for i = 1, 100 do numbers[i] = 0 end
numbers[90] = -1
for i = 1, 100 do
  if nonzero(numbers[i]) then at = i end
end
print(at)
