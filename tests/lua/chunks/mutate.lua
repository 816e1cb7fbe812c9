-- Breaks bytecode, byte by byte, and runs what is accepted as sandbox.lua says. mutants.lua breaks it in cleverer ways.
-- Usage: mutate.lua stride first program...
-- Every mutant from the first on, a stride apart, is tried. The last line printed before a crash says which one it was.
local stride, first = tonumber(arg[1]), tonumber(arg[2])
package.path = (arg[0]:match("^.*/") or "") .. "?.lua;" .. package.path
local sandbox = require "sandbox"

local tried, accepted, what = 0, 0, ""

local function try(bytes)
  tried = tried + 1
  if (tried - first) % stride ~= 0 or tried < first then return end
  if not load(bytes, "=mutant", "b") then return end
  accepted = accepted + 1
  io.write(what, " mutant ", tried, "\n")
  io.flush()
  local before, after = sandbox.try(bytes)
  if before ~= after then io.write("interpreted: ", before, "\ncompiled: ", after, "\n") end
  if accepted % 64 == 0 then sandbox.collect() end
end

jit.off()
for i = 3, #arg do
  local f = assert(loadfile(arg[i]))
  for _, strip in ipairs { false, true } do
    local bytes = string.dump(f, strip)
    what = arg[i]
    for n = 0, #bytes - 1 do
      if load(bytes:sub(1, n), "=mutant", "b") then
        io.write(what, " cut to ", n, " bytes is accepted\n")
        os.exit(1)
      end
    end
    for at = 1, #bytes do
      local head, old, tail = bytes:sub(1, at - 1), bytes:byte(at), bytes:sub(at + 1)
      for _, new in ipairs { bit.bxor(old, 1), bit.bxor(old, 0x80), old + 1, old - 1, old + 8, 0, 0xff, old + at } do
        try(head .. string.char(new % 256) .. tail)
      end
    end
  end
end
io.write(("%d mutants, %d accepted, %d compared, %d different\n"):format(tried, accepted, sandbox.compared, sandbox.different))
