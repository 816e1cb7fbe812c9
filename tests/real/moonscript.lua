-- MoonScript compiles itself, and the inputs of its own tests, with the parser that it has in plain Lua; LuLPeg
-- stands for LPeg.
package.loaded.jit = nil -- or LuLPeg wants the FFI
package.loaded.lpeg = dofile("LuLPeg/lulpeg.lua")
package.path = "moonscript/?.lua;moonscript/?/init.lua;" .. package.path
package.preload["moonscript.parse.native"] = function() return require("moonscript.parse.slow") end
local to_lua = require("moonscript.base").to_lua
for _, name in ipairs { "util", "types", "data", "dump", "errors", "base", "line_tables", "compile/statement" } do
  local f = assert(io.open("moonscript/moonscript/" .. name .. ".moon"))
  local code, err = to_lua(f:read("*a"))
  f:close()
  print(name, code and #code, type(err))
  print(code)
end
print((to_lua("class A extends B\n  new: (@x) => super!\n  get: => @x\nprint [i * 2 for i = 1, 10 when i % 2 == 0]")))
print(to_lua("x = = 1"))
for _, name in ipairs { "class", "comprehension", "destructure", "export", "import", "lists", "loops", "switch", "syntax", "with" } do
  local f = assert(io.open("moonscript/spec/inputs/" .. name .. ".moon"))
  print(name, (to_lua(f:read("*a"))))
  f:close()
end
