-- The Metalua parser turns the sources of the other programs into syntax trees.
package.path = "metalua/?.lua;deb/usr/share/lua/5.1/?.lua;" .. package.path
package.preload.checks = function() checks = function() end return checks end
local parser = require("metalua.compiler.parser")
local mlc = parser.new and parser.new() or parser
local function size(ast, counts)
  if type(ast) ~= "table" then return end
  local tag = ast.tag or "Block"
  counts[tag] = (counts[tag] or 0) + 1
  for _, child in ipairs(ast) do size(child, counts) end
end
for _, name in ipairs { "serpent/src/serpent.lua", "middleclass/middleclass.lua", "luafun/fun.lua", "etlua/etlua.lua", "deb/usr/share/lua/5.1/inspect.lua", "deb/usr/share/lua/5.1/argparse.lua" } do
  local f = assert(io.open(name))
  local text = f:read("*a")
  f:close()
  local lexer = mlc.lexer:newstream(text, name)
  local ok, ast = pcall(mlc.chunk, lexer)
  if not ok then
    print(name, tostring(ast))
  else
    local counts, lines = {}, {}
    size(ast, counts)
    for tag, n in pairs(counts) do lines[#lines + 1] = tag .. "=" .. n end
    table.sort(lines)
    print(name, table.concat(lines, " "))
  end
end
