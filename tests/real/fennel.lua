-- The Fennel compiler compiles its own sources, runs itself as compiled by itself, and compiles them again.
local root = "Fennel/"
package.path = root .. "bootstrap/?.lua;" .. package.path
local first = dofile(root .. "bootstrap/fennel.lua")
local path = root .. "src/?.fnl;" .. root .. "src/?/init.fnl"
first.path, first["macro-path"] = path, path
local function read(name)
  local f = assert(io.open(root .. name))
  local s = f:read("*a")
  f:close()
  return s
end
local globals = {}
for k in pairs(_G) do globals[#globals + 1] = k end
local function compile(with, name)
  local options = { filename = root .. name, allowedGlobals = globals, requireAsInclude = false, ["compiler-env"] = _G }
  local ok, text = xpcall(function() return with.compileString(read(name), options) end, debug.traceback)
  return tostring(text)
end
local names = { "parser", "utils", "compiler", "specials", "view", "friend", "repl" }
for _, name in ipairs(names) do
  local text = compile(first, "src/fennel/" .. name .. ".fnl")
  print(name, #text, loadstring(text) ~= nil)
  print(text:sub(1, 2000))
end
local second = first.dofile(root .. "src/fennel.fnl", { env = _G, allowedGlobals = false })
print(second.version, second ~= first)
print(second.eval("(let [t {:a 1 :b [2 3]}] (accumulate [s 0 _ v (ipairs t.b)] (+ s v)))"))
print(second.view({ a = { 1, 2, { x = "y" } }, [1] = true }))
print(second.compileString("(fn f [x] (match x [a b] (+ a b) {:k v} v _ (error :no)))  (lambda g [a ?b] (.. a (or ?b \"\")))"))
print(pcall(second.compileString, "(let [x] x)"))
print(pcall(second.eval, "(+ 1 nil)"))
