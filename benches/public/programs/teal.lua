-- The compiler of Teal, a typed dialect of Lua, checks its own modules and turns them into Lua.
local dir, n = arg[1], tonumber(arg[2])
local sum = dofile "sum.lua"
package.path = dir .. "/?.lua;" .. package.path
local tl = require "tl"
for pass = 1, n do
  local env = assert(tl.new_env())
  for _, name in ipairs { "lexer", "block", "reader", "types", "traversal", "type_errors", "facts", "ast" } do
    local source = assert(io.open(dir .. "/teal/" .. name .. ".tl")):read "*a"
    local result = tl.check_string(source, env, name .. ".tl")
    local code = tl.generate(result.ast, "5.1")
    if pass == 1 then print(name, #result.syntax_errors, #result.type_errors, code and sum(code)) end
  end
end
