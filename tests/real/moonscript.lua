-- MoonScript compiles itself. Its grammar runs on LuLPeg, LPeg written in Lua.
package.path = "moonscript/?.lua;moonscript/?/init.lua;LuLPeg/?.lua;" .. package.path
local lulpeg = dofile("LuLPeg/lulpeg.lua")
package.loaded.lpeg = lulpeg
local to_lua = require("moonscript.base").to_lua
for _, name in ipairs { "util", "types", "data", "dump", "errors", "base", "line_tables", "compile/statement", "transform/names" } do
  local f = assert(io.open("moonscript/moonscript/" .. name .. ".moon"))
  local code, err = to_lua(f:read("*a"))
  f:close()
  print(name, code and #code, err)
  print(code)
end
print(to_lua("class A extends B\n  new: (@x) => super!\n  get: => @x\nprint [i * 2 for i = 1, 10 when i % 2 == 0]"))
print(to_lua("x = = 1"))
