-- Tracebacks and hooks name the functions that LuaJIT has in Lua, at line 0; all other builtins are functions in C.
local ffi = require("ffi")
local function place(f)
  local _, text = xpcall(f, debug.traceback)
  print((text:match("\n\t(%[[^\n]*)")))
end
place(function() local r = string.len() return r end)
place(function() local r = table.remove(1) return r end)
place(function() local r = ffi.load({}) return r end)
place(function() local r = ffi.new({}) return r end)
place(function() local r = string.rep() return r end)

local lines = {}
debug.sethook(function(_, line)
  if debug.getinfo(2, "S").what == "Lua" then lines[#lines + 1] = line .. " " .. debug.getinfo(2, "l").currentline end
end, "l")
local n = string.len("a")
n = n + ffi.sizeof("int") + math.floor(n)
debug.sethook()
print(table.concat(lines, ", "))
