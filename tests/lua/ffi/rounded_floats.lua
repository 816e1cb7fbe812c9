-- Floats of C are rounded by math.floor like other numbers, and products of integers lose the bits that an integer of C has not.
jit.opt.start("hotloop=5", "hotexit=2")
local ffi = require "ffi"
local floats = ffi.new "float[71]"
for i = 0, 70 do floats[i] = i < 45 and i or i == 61 and 2 ^ 31 or i + 0.5 end
local function whole()
  local n, sum = 0, 0
  for i = 1, 70 do
    local x = floats[i]
    local floor = math.floor(x)
    if x == floor then n = n + 1 end
    if floor < 1e9 then sum = sum + floor end
  end
  return n, sum
end
for _ = 1, 4 do print(whole()) end
local function bits()
  local sum = 0
  for i = 1, 40 do
    sum = sum + tonumber(ffi.cast("int32_t", ffi.cast("int64_t", i * 225608106))) * 0.5
  end
  return sum
end
for _ = 1, 4 do print(bits()) end
