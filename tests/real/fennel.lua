-- The Fennel compiler compiles its own sources, and evaluates and prints programs.
-- in: Fennel
local root = ""
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
print(first.eval("(let [t {:a 1 :b [2 3]}] (accumulate [s 0 _ v (ipairs t.b)] (+ s v)))"))
for i = 1, 40 do
  local text = ("(let [t {:a %d :b [2 3]}] (each [k v (pairs t.b)] (tset t k (* v t.a))) (. t 2))"):format(i)
  io.write(tostring(first.eval(text)), " ")
end
print()
print(first.compileString("(fn f [x] (match x [a b] (+ a b) {:k v} v _ (error :no)))  (lambda g [a ?b] (.. a (or ?b \"\")))"))
print(pcall(first.compileString, "(let [x] x)"))
print(pcall(first.eval, "(+ 1 nil)"))
