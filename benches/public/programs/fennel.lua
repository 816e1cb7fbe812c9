-- The compiler of Fennel, a Lisp, turns its own modules into Lua.
local dir, n = arg[1], tonumber(arg[2])
local sum = dofile "sum.lua"
package.path = dir .. "/bootstrap/?.lua;" .. package.path
local fennel = require "fennel"
fennel.path = dir .. "/src/?.fnl"
for pass = 1, n do
  for _, name in ipairs { "utils", "parser", "compiler", "specials", "friend", "view", "repl" } do
    local source = assert(io.open(dir .. "/src/fennel/" .. name .. ".fnl")):read "*a"
    local code = fennel.compileString(source, { filename = name, allowedGlobals = false })
    if pass == 1 then print(name, sum(code)) end
  end
end
