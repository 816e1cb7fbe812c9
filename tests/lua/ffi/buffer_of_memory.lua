-- A buffer that reads the memory of cdata: nothing is copied until something is written to the buffer.
local ffi = require "ffi"
local new = require "string.buffer".new

local bytes = ffi.new("uint8_t[8]", 65, 66, 67, 68, 69)
local b = new():put("gone"):set(bytes, 5)
print(#b, b:tostring(), b:get(2), #b)
bytes[2] = 99
print(b:tostring())
b:put("!")
bytes[2] = 67
print(b:tostring(), #b, b:get(), #b)
print(#new():set(bytes, 0), new():set(bytes, 0):tostring() == "")
print(new():set(ffi.cast("const char *", bytes) + 1, 3):get())
print(new():set(ffi.cast("void *", bytes), 2):put("x", 1):get())
print(new():set("string"):set(bytes, 3):set("other"):get())
print(new():set(bytes, 4):reset():put("y"):get(), #new():set(bytes, 4):free())
local p, n = new():set(bytes, 4):ref()
print(n, ffi.cast("uint8_t *", p) == bytes)
print(new():put("<"):put(new():set(bytes, 3)):put(">"):get())
bytes[0], bytes[1], bytes[2] = 3, 66, 67
print(new():set(bytes, 1):decode() == nil)
print(pcall(function() return new():set(bytes) end))
print(pcall(function() return new():set(bytes, -1) end))
print(pcall(function() return new():set({}, 1) end))
print(pcall(function() return new():set(ffi.new "struct { int a; }", 1) end))

-- The buffer keeps the cdata.
local kept = new():set(ffi.new("char[1000]", ("z"):rep(999)), 999)
for _ = 1, 3 do collectgarbage() end
local junk = {}
for i = 1, 100 do junk[i] = ffi.new("char[1000]") end
print(#kept, kept:get() == ("z"):rep(999))

-- In a loop: what is stored to the memory is what the buffer reads.
local function loop(n)
  local a, buf, s = ffi.new("uint8_t[4]"), new(), 0
  for i = 1, n do
    a[0] = 48 + i % 10
    buf:set(a, 1 + i % 2)
    a[1] = 49
    local text = buf:get()
    a[0] = 32
    s = s + tonumber(text) + #buf
    if i % 5 == 0 then buf:set("7") s = s + tonumber(buf:get(1)) end
  end
  return s
end
print(loop(300))
local function reader(n)
  local a, buf, s = ffi.new("uint8_t[16]"), new(), 0
  buf:set(a, 16)
  for i = 1, n do
    a[0] = 48 + i % 10
    local x = buf:tostring():byte()
    a[0] = 48
    s = s + x * #buf
  end
  return s
end
print(reader(300))
