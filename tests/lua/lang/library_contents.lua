-- Each library has the functions that LuaJIT's has, and no others.
for _, name in ipairs { "string", "table", "math", "io", "os", "coroutine", "debug", "bit", "package" } do
  local names = {}
  for k in pairs(_G[name]) do names[#names + 1] = tostring(k) end
  table.sort(names)
  print(name, table.concat(names, " "))
end
local names = {}
for k in pairs(debug.getmetatable(io.stdout)) do names[#names + 1] = k end
table.sort(names)
print("file", table.concat(names, " "))
