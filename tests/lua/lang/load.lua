-- load, loadstring, loadfile, dofile, string.dump: sources, names, modes, environments, errors.

-- Strings.
print(loadstring("return 1 + 1")(), load("return ...")(5, 6), select("#", loadstring("")()))
local f, m = loadstring("return +")
print(f, m)
f, m = load("x =", "=chunk")
print(f, m)
f, m = load("error('in chunk')", "@name.lua")
print(pcall(f))
print(pcall(load("local a, b = ... return a + b"), 1))
f = load("local n = 0 return function() n = n + 1 return n end")
local c1, c2 = f(), f()
print(c1(), c1(), c2())

-- Readers.
local pieces = { "return ", "1", "0 +", " 5", "", "ignored after the empty string" }
local i = 0
print(load(function() i = i + 1 return pieces[i] end)())
i = 0
local bytes = "local t = {} for i = 1, 10 do t[i] = i end return #t"
print(load(function() i = i + 1 return i <= #bytes and bytes:sub(i, i) or nil end, "=bytes")())
print(load(function() return nil end)())
local given = false
print(load(function() if not given then given = true return "x x" end end, "=reader"))
print(pcall(load, function() error("from the reader", 0) end))
given = false
print(load(function() if not given then given = true return 1 .. "" end end, "=num"))

-- Modes.
local dumped = string.dump(function(a) return a * 2 end)
print(type(dumped), dumped:byte(1), load(dumped)(21), load(dumped, "n", "b")(4), load(dumped, "n", "bt")(5))
print(load(dumped, "=n", "t"))
print(load("return 1", "=n", "b"))
print(load("return 1", "=n", "t")(), load("return 2", "=n", "bt")())

-- Environments.
local env = { y = 5, print = print }
print(load("x = y * 2 return x", "=e", "t", env)(), env.x, rawget(_G, "x"))
print(pcall(load("return print ~= nil and string.len('x')", "=e", "t", env)))
local g = load("z = 1 return function() z = z + 1 return z end", "=e", "t", env)()
g()
print(env.z, rawget(_G, "z"))
print(getfenv(g) == env)

-- Dumping keeps code, constants, nested functions, varargs; not upvalues.
local function sample(n, ...)
  local t = { "a", 2.5, [10] = true, k = { 1, 2 } }
  local s = 0
  for j = 1, n do
    if j % 2 == 0 then s = s + j elseif j > 5 then s = s - 1 else s = s * 2 end
  end
  local inner = function(v) return v .. t[1] .. s end
  return inner("x"), select("#", ...), t.k[2], -n, not n, 2 ^ 31, "zero\0inside", ...
end
print(sample(10, "p", nil))
print(load(string.dump(sample))(10, "p", nil))
print(load(string.dump(sample, true))(10, "p", nil))
local up = 10
local withup = load(string.dump(function() return up end))
print(withup and withup())
print(pcall(string.dump, print))
print(pcall(string.dump))
local stripped = load(string.dump(loadstring("local x = nil\n\nreturn x.y", "=src"), true))
print((select(2, pcall(stripped)):gsub("^.-: ", "POS: ")))
print(pcall(load(string.dump(loadstring("local x = nil\n\nreturn x.y", "=src")))))
print((load("\27LJ broken")), (load("\27Lua")), (load(dumped:sub(1, #dumped - 5))))

-- Files.
local name = os.tmpname()
local function write(text)
  local h = assert(io.open(name, "wb"))
  h:write(text)
  h:close()
end
write("local a = ... return 'file', a, select('#', ...)")
print(dofile(name))
print(loadfile(name)("arg"))
write("#! first line is skipped\nreturn 'after shebang'")
print(dofile(name))
write("\239\187\191return 'after bom'")
print(dofile(name))
write("return 1 +")
print((select(2, loadfile(name)):gsub(".*:1:", "FILE:1:")))
print((select(2, pcall(dofile, name)):gsub(".*:1:", "FILE:1:")))
write("error('runtime')")
print((select(2, pcall(dofile, name)):gsub(".*:1:", "FILE:1:")))
write(string.dump(function(...) return "binary", ... end))
print(dofile(name), loadfile(name, "b")(7), (loadfile(name, "t")))
write("v = 3 return v")
env = {}
print(loadfile(name, "t", env)(), env.v, rawget(_G, "v"))
print((loadfile("/nonexistent.lua")), pcall(dofile, "/nonexistent.lua"))
print(select(2, loadfile("/nonexistent.lua")))
os.remove(name)

-- The chunk is a vararg function with its own level; big chunks.
print(load("local function f(n) return n == 0 and 'done' or f(n - 1) end return f(...)")(1000))
local parts = {}
for k = 1, 3000 do parts[k] = "t[" .. k .. "] = " .. k .. " * 2" end
local t = load("local t = {} " .. table.concat(parts, "\n") .. " return t")()
print(#t, t[3000])
for k = 1, 2000 do assert(load("return " .. k)() == k) end
print("ok")

-- No binary chunk after a header.
for _, head in ipairs { "#x\n", "#x\r\n", "\239\187\191", "\239\187\191#x\n", "#x", "\n" } do
  print(select(2, loadstring(head .. "\27LJ", "=c")) or "compiles", select(2, load(head .. "\27", "=c", "b")))
end
-- A reader is not asked for more once the source is wrong.
do
  local function count(source)
    local i = 0
    local f, message = load(function()
      i = i + 1
      return source:sub(i, i)
    end)
    return i, f, message
  end
  print(count "*a = 123")
  print(count "return 1" == 9, select(3, count "return ("))
  local asked = 0
  print(load(function() asked = asked + 1 return "x ! " end), asked < 10)
end
