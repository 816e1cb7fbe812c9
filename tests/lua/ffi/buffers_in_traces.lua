-- Buffers and pointers in traces: putcdata, reserve, commit and ref, buffers put into buffers, bytes of a buffer put into itself.
local ffi = require "ffi"
local buffer = require "string.buffer"

local function copied(n)
  local b, a = buffer.new(), ffi.new("uint8_t[256]")
  for i = 0, 255 do a[i] = i end
  for i = 1, n do
    b:putcdata(a + i % 100, i % 50)
    b:putcdata(a, 0)
    if i % 64 == 0 then b:skip(1000) end
  end
  return #b, b:get(10):byte(1, -1)
end
print(copied(300))

-- The pointer is into the buffer itself, which may have to move.
local function itself(n)
  local b = buffer.new():put("0123456789")
  for i = 1, n do
    local p, len = b:ref()
    b:putcdata(p + i % 5, 3)
    if #b > 200 then b:skip(100) end
  end
  return #b, b:tostring()
end
print(itself(300))

local function written(n)
  local b, sum = buffer.new(), 0
  for i = 1, n do
    local p, len = b:reserve(16)
    if len < 16 then error("too little") end
    ffi.cast("uint64_t *", p)[0] = i * 0x100000001ULL
    ffi.cast("double *", p + 8)[0] = i / 2
    b:commit(i % 17)
    p[0] = 65
    sum = sum + #b
    if i % 40 == 0 then
      local q, n = b:ref()
      for k = 0, n - 1 do sum = (sum * 3 + q[k]) % 1000003 end
      b:reset()
    end
  end
  return sum, #b
end
print(written(400))

local function framed(n)
  local out, part, s = buffer.new(), buffer.new(), 0
  for i = 1, n do
    part:reset():put("item ", i)
    out:put("[", part, "|", part, "]")
    if #out > 300 then s = s + #out:get() end
  end
  return s, out:tostring()
end
print(framed(300))

local function failure(...)
  local ok, message = pcall(...)
  return ok, (tostring(message):gsub("^[^:]*:%d+: ", ""))
end
print(failure(function()
  local b, c = buffer.new(), buffer.new()
  for i = 1, 200 do b:put("x", i < 150 and c or b) end
end))
print(failure(function()
  local b, c = buffer.new(), ffi.new("char[4]")
  for i = 1, 200 do b:putcdata(c, 150 - i) end
end))
print(failure(function()
  local b = buffer.new()
  for i = 1, 200 do local p, len = b:reset():reserve(8) b:commit(i < 150 and 8 or len + 1) end
end))
print(failure(function()
  local b = buffer.new()
  for i = 1, 200 do b:putcdata(i < 150 and ffi.new("char[4]") or "text", 2) end
end))
-- One that reads from a string.
local function source(n)
  local b, a, s = buffer.new(), ffi.new("char[4]", "abc"), 0
  for i = 1, n do
    b:set("hello")
    local p, len = b:ref()
    s = s + p[i % 5] + len
    if i % 3 == 0 then b:putcdata(a, 3) end
    if i % 7 == 0 then p, len = b:reserve(4) p[0] = 66 b:commit(1) end
    s = s + #b
  end
  return s, b:tostring()
end
print(source(300))
print(failure(function() local b = buffer.new() for i = 1, 200 do b:set("x") b:commit(i < 150 and 0 or 1) end end))
-- Bytes that are written and not committed yet move with the buffer when it grows.
local function grown(n)
  local b, s = buffer.new(), 0
  for i = 1, n do
    b:put("ab")
    local p = b:reserve(2)
    p[0], p[1] = 65 + i % 20, 66
    p = b:reserve(i * 8)
    s = s + p[0] + p[1]
    b:commit(1)
  end
  return s, #b, b:get(6)
end
print(grown(200))
-- Sizes that are too large in some iterations.
for _, method in ipairs { "skip", "get", "reserve", "commit" } do
  local b, errors = buffer.new(), 0
  local sizes = { -0.0, 2147483647, 1, 0x7fffff00, 2, -1, 0.5 }
  for i = 1, 400 do
    b:reset():put("text")
    if method == "commit" then b:reserve(4) end
    local n = sizes[i < 200 and 1 + i % 2 * 2 or 1 + i % 7]
    if method ~= "reserve" or n < 100 or n > 0x7fffff00 then
      if not pcall(b[method], b, n) then errors = errors + 1 end
    end
  end
  print(method, errors)
end
