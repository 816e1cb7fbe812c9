-- sieve: primes in an array of bytes.
-- Stresses: stores to bytes with a stride.
-- small: 1
local n = tonumber(arg and arg[1]) or 60
local ffi = require("ffi")
local size = 2000000
local flags = ffi.new("uint8_t[?]", size + 1)
local count
for _ = 1, n do
  count = 0
  ffi.fill(flags, size + 1, 1)
  for i = 2, size do
    if flags[i] == 1 then
      count = count + 1
      for j = i + i, size, i do flags[j] = 0 end
    end
  end
end
print(count)
