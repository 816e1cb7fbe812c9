-- `putf` of string buffers: with room and without, with errors, with the format or a value that is the buffer itself.
local buffer = require "string.buffer"
local b = buffer.new()
for i = 1, 300 do b:putf("%d:%s,%5.1f|", i, i % 2 == 0, i / 4) end
local text = b:tostring()
print(#text, text:sub(1, 40), text:sub(-20))

-- A buffer that is emptied now and then, and one that is too small at first.
local sum = 0
for i = 1, 300 do
  b:putf("<%s>", ("x"):rep(i % 50))
  if i % 7 == 0 then sum = sum + #b:get() end
end
local small = buffer.new(1)
for i = 1, 200 do small:putf("%c%x", 65 + i % 26, i):put("."):putf("%%"):putf("plain") end
print(sum, #small, small:tostring():sub(-30))

-- Values that are left to the interpreter.
local t = setmetatable({}, { __tostring = function() return "object" end })
for i = 1, 60 do b:putf("%s%s", t, i) end
print(#b, #b:get())
b:put("abc")
local function try(...)
  for i = 1, 60 do
    if i == 60 then return print(pcall(b.putf, ...)) end
    pcall(b.putf, ...)
  end
end
try(b, "%s", b)
try(b, "%d", "x")
try(b, "%d")
try(b)
try("no buffer", "%d", 1)
print(#b)
