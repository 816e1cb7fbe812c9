-- string.format and string.char of several codes in traces: every kind of specification and of value, what is left to a call, and errors.
local sum = 0
local function add(s)
  for i = 1, #s do sum = (sum * 31 + s:byte(i)) % 1000000007 end
end
local words = { "", "a", "bcd", "x\ny\0z", ("long "):rep(40) }
local numbers = { 0, -0.0, 1, -7, 2 ^ 31, -2 ^ 31, 0.5, -1 / 3, 1e15, 123456.789, 1e-7, 1e300, 1 / 0, -1 / 0, 0 / 0 }

for i = 1, 300 do
  local s, x = words[i % #words + 1], numbers[i % #numbers + 1]
  add(("plain"):format() .. (""):format() .. ("%%"):format() .. ("%d%%%%%s%%"):format(i, "%"))
  add(("%d %i %5d|%-5d|%05d|%+d|% d|%.3d"):format(i, i, i, i, -i, i, i, i))
  add(("%x %X %o %u %#x %#o %08x"):format(i, i, i, i, i, i, i))
  add(("%c%c|%3c|%-3c|"):format(65 + i % 26, 48, 66, 67))
  add(("%s|%5s|%-5s|%.2s|%q"):format(s, s, s, s, s))
  add(("%s %s %s %s %s"):format(nil, true, false, i, i / 4))
  add(("%q %10s %-10s|%.1s"):format(i, i, i / 8, i))
  if x == x then add(("%s %g %f %e %.3g %10.2f|%-10.1e|%+.1f|%010.3f|%#.0f|%G|%E"):format(x, x, x, x, x, x, x, x, x, x, x, x)) end
  if x == x then add(("%.0f %.14g %.17g %.20f %5.1f %a"):format(x, x, x, x, x, x)) end
  if x > -2 ^ 53 and x < 2 ^ 53 then add(("%d %5d %x"):format(x, x, x < 0 and 1 or x)) end
end
print(sum)

-- What the trace takes as it is, and what it removes.
for i = 1, 100 do
  local s = "k" .. i % 3
  assert(("%s"):format(s) == s and ("%d"):format(i) == tostring(i) and ("%s"):format(i / 2) == tostring(i / 2))
  local unused = ("%d %s %5.1f"):format(i, s, i)
end

-- Codes.
for i = 1, 200 do
  add(string.char(i % 256, 255 - i % 256) .. string.char(65, i, 66) .. string.char(1, 2, 3, i % 7))
  add(string.char(i, i, i, i, 255) .. string.char(0, i, 0, i, 0, i, 0) .. string.char(1, 2, 3, 4, 5, 6, 7, i) .. string.char(9, 8, 7, 6, 5, 4, 3, 2, 1))
end
print(sum)

-- Metamethods, and values of other types.
local t = setmetatable({}, { __tostring = function() return "object" end })
debug.setmetatable(1, { __tostring = function(n) return "number" end })
for i = 1, 50 do add(("%s %s %d"):format(t, i, i)) end
debug.setmetatable(1, nil)
for i = 1, 50 do add(("%s %d %5s"):format("10", "10", 2)) end
print(sum)

-- The format changes, and so do the types.
local formats = { "%d", "%s", "<%s>", "%5.1f", "%x" }
for i = 1, 200 do
  add(formats[i % 5 + 1]:format(i))
  add(("%s|"):format(i % 3 == 0 and "text" or i % 3 == 1 and i or i / 2))
end
print(sum)

-- Errors.
local function try(f, ...)
  for i = 1, 60 do
    if i == 60 then return print(pcall(f, ...)) end
    pcall(f, ...)
  end
end
local function format(f, ...) return f:format(...) end
try(format, "%d")
try(format, "%d", "x")
try(format, "%d %d", 1)
try(format, "%y", 1)
try(format, "%s %", 1)
try(format, "%c", {})
try(format, "%5.1f", nil)
try(string.char, 1, 256)
try(string.char, 1, -1, 2)
try(string.char, 1, "x")
