-- Numbers of bits that are fractions, or large: operators on 64 bits truncate them, the functions of the bit library round them.
local bit = require "bit"
local counts = { 0, 1, 1.5, 2.5, -1, -1.5, 63, 64.75, 2 ^ 31, 2 ^ 31 + 0.5, 2 ^ 51 + 1, 2 ^ 52 + 1, -2 ^ 52 - 1 }
local function compared(shift, x)
  local out = {}
  for i, n in ipairs(counts) do
    local first, other
    for k = 1, 60 do
      local y = shift(x, n)
      if k == 1 then first = y elseif y ~= first then other = y end
    end
    out[i] = tostring(first) .. (other and "|" .. tostring(other) or "")
  end
  return table.concat(out, " ")
end
local shifts = {
  function(x, n) return x << n end, function(x, n) return x >> n end, function(x, n) return x ~>> n end,
  function(x, n) return bit.lshift(x, n) end, function(x, n) return bit.rshift(x, n) end, function(x, n) return bit.arshift(x, n) end,
}
for i, shift in ipairs(shifts) do
  print(i, compared(shift, 1ULL))
  print(i, compared(shift, -5LL))
  print(i, compared(shift, 77))
end
