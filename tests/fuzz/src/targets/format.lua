-- Formats by string.format and by a buffer's putf, which must agree.
local buffer = require "string.buffer"
local format = string.format
local object = setmetatable({}, { __tostring = function() return "an object" end })

return function(text, ...)
  local args, n = { ... }, select("#", ...)
  for i = 1, n do
    if args[i] == false then args[i] = object end
  end
  local ok, result = pcall(format, text, unpack(args, 1, n))
  local b = buffer.new()
  local ok2, result2 = pcall(b.putf, b, text, unpack(args, 1, n))
  assert(ok == ok2, "one of format and putf fails")
  if ok then
    result2 = b:get()
    assert(result == result2 or result:find("0x", 1, true), "format and putf differ")
  end
end
