-- markdown.lua renders the manuals of the other programs.
package.path = "deb/usr/share/lua/5.1/?.lua;" .. package.path
local markdown = require("markdown")
for _, name in ipairs {
  "Fennel/README.md", "Fennel/reference.md", "Fennel/tutorial.md", "middleclass/README.md", "serpent/README.md", "LibDeflate/README.md",
  "metalua/README.md", "etlua/README.md", "moonscript/docs/reference.md",
} do
  local f = io.open(name)
  if f then
    print(name)
    print(markdown(f:read("*a")))
    f:close()
  end
end
