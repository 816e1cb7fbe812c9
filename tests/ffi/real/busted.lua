-- Runs busted, of which the system has the modules: LUA busted.lua [option...] file...
local lua, c = os.getenv("BUSTED") or "/usr/share/lua/5.1", os.getenv("BUSTED_C") or "/usr/lib/x86_64-linux-gnu/lua/5.1"
package.path = ("%s/?.lua;%s/?/init.lua;./?.lua;%s"):format(lua, lua, package.path)
package.cpath = ("%s/?.so;%s"):format(c, package.cpath)
require("busted.runner")({ standalone = false })
