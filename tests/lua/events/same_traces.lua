-- What becomes hot depends on the program alone: not on what else is loaded, nor on who watches, nor on when the collector runs.
local name, size = arg[1], arg[2]
local program = assert(loadfile(name))
arg = { [0] = name, size }
local print_, write = print, io.write
print, io.write = function() end, function() end
program()
print, io.write = print_, write
local c = require("jit.util").counters()
print(c.started, c.aborted, c.compiled)
