-- argparse: help, usage, completion and errors of a command line with commands, options and flags; inspect shows the results.
local tree = "deb/usr/share/lua/5.1/"
package.path = tree .. "?.lua;" .. package.path
local argparse, inspect = require("argparse"), require("inspect")
local function parser()
  local p = argparse("tool", "A tool with parts.", "See the manual for more.")
  p:flag("-v --verbose", "Say more."):count("0-3"):target("level")
  p:option("-o --output", "Where to write.", "a.out")
  p:option("-I --include", "Places to look in."):args("*"):count("*")
  p:option("--level"):convert(tonumber):choices({ "1", "2", "3" })
  p:mutex(p:flag("-q --quiet"), p:flag("-l --loud"))
  p:require_command(false)
  local add = p:command("add a", "Add things.")
  add:argument("things", "What to add."):args("1-3")
  add:option("-n"):convert(tonumber)
  p:command("remove", "Remove one."):argument("thing")
  p:add_complete()
  return p
end
print(parser():get_help())
print(parser():get_usage())
for _, line in ipairs {
  "", "-vv -o x add 1 2", "add", "add 1 2 3 4", "-q -l", "--level 4", "--level=2 remove y", "-I a b -I c", "-vvvv", "--outptu x",
  "add --help-me", "-n 3", "add -n three x", "rmove x", "add -n 3 x y",
} do
  local args = {}
  for word in line:gmatch("%S+") do args[#args + 1] = word end
  local ok, result = parser():pparse(args)
  print(line, ok)
  print(type(result) == "table" and inspect(result) or result)
end
for _, shell in ipairs { "bash", "zsh", "fish" } do
  local p = parser()
  print(p["get_" .. shell .. "_complete"](p))
end
print(inspect({ 1, 2, { a = "b", [3.5] = { true, false }, ["a b"] = "line\nbreak" }, setmetatable({ x = 1 }, { __index = { y = 2 } }) }))
local cycle = {}
cycle.self = cycle
print(inspect(cycle), inspect({ a = 1, b = { 2 } }, { newline = "", indent = "" }), inspect({ { { {} } } }, { depth = 2 }))
print(inspect({ a = 1, secret = 2 }, { process = function(v, path) if path[#path] ~= "secret" then return v end end }))
