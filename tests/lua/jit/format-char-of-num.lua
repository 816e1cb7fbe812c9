-- `%c` of a number that is an int in some iterations and another number in others: the trace has it as a num.
local half, list = 0.5, {}
for i = 1, 400 do list[i] = i * 7 % 13 < 6 and half * 2 + 72 or 74 end

local function letters(n)
  local t = {}
  for r = 1, n do
    for i = 1, #list do t[i] = string.format("%c", list[i] % 30 + 84) end
  end
  return table.concat(t, "", 1, 20)
end
print(letters(200))

local buffer = require "string.buffer"
local function sizes(n)
  local b, s = buffer.new(), 0
  for r = 1, n do
    for i = 1, #list do
      b:put("0123456789"):skip(list[i] - 72)
      s = s + #b:get(list[i] - 71) + #b:get()
    end
  end
  return s
end
print(sizes(100))

-- `string.char` ignores fractions.
local function bytes(n)
  local t = {}
  for i = 1, n do
    local m = (i + 0.25) * 65536
    t[i % 50] = string.char(m / 65536 % 256, m / 256 % 256, m % 256)
  end
  return table.concat(t):byte(1, 12)
end
print(bytes(200))
print(pcall(function() for i = 1, 200 do string.char(150.5 + i) end end))
print(pcall(function() local s = "" for i = 1, 200 do s = string.char(150.5 - i) end end))
local function many(n)
  local s = ""
  for i = 1, n do
    local c = i % 256
    s = string.char(c, 2, 3, 4, c, 6, 7, 8, c) .. string.char(1, c, 3, 4, 5, c, 7, 8, 9, 10, c, 12, 13, 14, 15, c)
      .. string.char(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, c)
  end
  return s:byte(1, -1)
end
print(many(300))
