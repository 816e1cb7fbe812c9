-- Enumerations in traces: those with a negative constant are signed, others are not; their boxes are read without memory.
local ffi = require "ffi"
ffi.cdef [[
typedef enum { SIGNED_A = -1, SIGNED_B = 10 } signed_enum;
typedef enum { UNSIGNED_A = 1, UNSIGNED_B = 10 } unsigned_enum;
]]
local function filled(type, value)
  local t, equal, sum = ffi.new(type, 100), 0, 0
  for i = 0, 99 do t[i] = value end
  for i = 0, 99 do
    if t[i] == value then equal = equal + 1 end
    sum = sum + tonumber(t[i] + 1)
  end
  local less, named, pairs_of = 0, 0, 0
  for i = 1, 99 do
    if t[i] < 0 then less = less + 1 end
    if t[i] == t[i - 1] then pairs_of = pairs_of + 1 end
  end
  for i = 0, 99 do t[i] = 10 end
  for i = 0, 99 do
    if t[i] == (type == "signed_enum[?]" and "SIGNED_B" or "UNSIGNED_B") then named = named + 1 end
  end
  return equal, sum, less, pairs_of, named
end
for _ = 1, 3 do
  print(filled("signed_enum[?]", -10))
  print(filled("signed_enum[?]", 7))
  print(filled("unsigned_enum[?]", 4294967286))
  print(filled("unsigned_enum[?]", 7))
end
local s, u, differ = ffi.new("signed_enum[100]"), ffi.new("unsigned_enum[100]"), 0
for i = 0, 99 do s[i], u[i] = -10, 4294967286 end
for i = 0, 99 do if s[i] ~= u[i] then differ = differ + 1 end end
print(differ)

-- Names of constants are stored, and passed to the constructor.
ffi.cdef [[
typedef enum { RED, GREEN = 5, BLUE, HUGE = 4294967295 } color;
typedef struct { color c; int k; } painted;
]]
local painted, color = ffi.new "painted[16]", ffi.typeof "color"
local function paint(n, names)
  local sum, reds = 0, 0
  for i = 1, n do
    local p = painted[i % 16]
    p.c = i % 3 == 0 and "GREEN" or "BLUE"
    sum = sum + tonumber(p.c)
    local c = color(names[i % #names + 1])
    sum = sum + tonumber(c) % 1000
    if c == "RED" then reds = reds + 1 end
    p.c = "HUGE"
    sum = sum + tonumber(p.c) % 7
  end
  return sum, reds
end
for _ = 1, 2 do print(paint(200, { "RED", "BLUE", "GREEN" })) end
print(paint(200, { "RED" }))
local function failure(...) return (select(2, pcall(...)):gsub("enum %d+", "enum")) end
print(failure(paint, 200, { "RED", "RED", "RED", "NONE" }))
print(failure(function() for i = 1, 200 do painted[0].c = i < 150 and "RED" or "PINK" end end))
print(tonumber(painted[0].c))
