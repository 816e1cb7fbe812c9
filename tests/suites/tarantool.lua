-- Tarantool has it in a global variable; LuaJIT has no such library.
local found, library = pcall(require, "misc")
misc = found and library or nil
