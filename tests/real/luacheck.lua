-- Luacheck, a static analyser, reads this project's benchmark and conformance programs, and itself.
local tree = "deb/usr/share/lua/5.1/"
package.path = tree .. "?.lua;" .. tree .. "?/init.lua;" .. package.path
local check, filter, format = require("luacheck.check"), require("luacheck.filter"), require("luacheck.format")
local luacheck = require("luacheck")
local project = arg[1]
local names = {}
for name in io.popen("cd '" .. project .. "' && ls benches/programs/*.lua tests/lua/lang/*.lua; cd - >/dev/null; ls " .. tree .. "luacheck/*.lua " .. tree .. "pl/*.lua"):lines() do
  names[#names + 1] = name
end
table.sort(names)
local totals = {}
for _, name in ipairs(names) do
  local f = io.open(project .. "/" .. name) or assert(io.open(name))
  local report = luacheck.check_strings({ f:read("*a") }, { std = "luajit" })
  f:close()
  print(name, report.warnings, report.errors, report.fatals)
  for _, event in ipairs(report[1]) do
    totals[event.code] = (totals[event.code] or 0) + 1
    print("", event.line, event.column, event.code, luacheck.get_message(event))
  end
end
local codes = {}
for code in pairs(totals) do codes[#codes + 1] = code end
table.sort(codes)
for _, code in ipairs(codes) do print(code, totals[code]) end
