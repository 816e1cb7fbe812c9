-- Handlers of errors run where calls are nested too deep for any other function.
local function sorted(a, b) table.sort({ 3, 1, 2 }, sorted) return a < b end
print(xpcall(function() sorted(1, 2) end, function(m) return "handled: " .. m end))
local function replaced() return (("a"):gsub(".", replaced)) end
print(xpcall(function() replaced() end, function(m) return "handled: " .. m end))
print(xpcall(function() sorted(1, 2) end, function(m) return #debug.traceback(m) > 100 end))
print(xpcall(function() sorted(1, 2) end, function()
  local t = { 3, 2, 1 }
  table.sort(t, function(a, b) return a < b end)
  return "sorted " .. t[1]
end))
-- But not for ever.
print(xpcall(function() sorted(1, 2) end, function() sorted(1, 2) end))
print(pcall(function() sorted(1, 2) end))
