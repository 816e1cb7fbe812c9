-- bitfields: packed dates.
-- Stresses: bitfields.
-- small: 100
local n = tonumber(arg and arg[1]) or 150000000
local ffi = require("ffi")
ffi.cdef[[ typedef struct { unsigned day:5, month:4, year:12; int flag:3; } date; ]]
local d = ffi.new("date", { 1, 1, 2000, 0 })
local sum = 0
for i = 1, n do
  local day = d.day + 1
  if day > 30 then
    day = 1
    d.month = d.month % 12 + 1
    if d.month == 1 then d.year = d.year + 1 end
  end
  d.day = day
  d.flag = i
  sum = sum + d.day + d.flag
end
print(d.day, d.month, d.year, sum)
