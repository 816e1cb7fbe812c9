-- Operators and methods of types that the interpreter reaches without the metamethods of all cdata, and changes of what it has found.
-- (Compiled code takes the metatables of types for constant, as in LuaJIT.)
jit.off()
local ffi = require "ffi"
local mt = { __index = {} }
local vec = ffi.metatype("struct { double x, y; }", mt)
local a, b = vec(1, 2), vec(3, 4)
local function try(name, f)
  for _ = 1, 3 do print(name, pcall(f)) end
end
local function sum() return (a + b).x end
try("no __add", sum)
mt.__add = function(p, q) return vec(p.x + (ffi.istype(vec, q) and q.x or q), p.y) end
try("__add", sum)
try("number after", function() return (a + 10).x end)
mt.__add = function() return { x = "changed" } end
try("changed", sum)
mt.__add = setmetatable({}, { __call = function(_, p, q) return { x = p.x * q.x } end })
try("callable", sum)
mt.__add = nil
try("removed", sum)
mt.__unm = function(p, q) return p.x == q.x and vec(-p.x, -p.y) end
try("__unm", function() return (-a).x end)

-- A table has metamethods of its own, which come first if it does.
local own = setmetatable({}, { __sub = function() return "of the table" end })
mt.__sub = function() return "of the type" end
try("table - cdata", function() return own - a end)
try("cdata - table", function() return a - own end)
try("table without", function() return setmetatable({}, {}) - a end)

-- Methods.
local function method() return a:length() end
try("no method", method)
mt.__index.length = function(v) return v.x + v.y end
try("method", method)
mt.__index.length = function() return "other" end
try("other", method)
mt.__index = function(v, key) return function() return key .. v.x end end
try("function", method)
mt.__index = setmetatable({}, { __index = function(_, key) return function() return "inherited " .. key end end })
try("inherited", method)
mt.__index = nil
try("none", method)
try("pointer", function() return ffi.cast(ffi.typeof("$ *", vec), a).z end)
mt.__index = { z = 5 }
try("pointer", function() return ffi.cast(ffi.typeof("$ *", vec), a).z end)

-- A struct that gets its members later.
ffi.cdef "struct later; typedef struct later later_t;"
local words = ffi.new("int[2]", 7, 8)
local p = ffi.cast("later_t *", words)
try("not defined", function() return p.second end)
ffi.cdef "struct later { int first, second; };"
try("defined", function() return p.second end)

-- Names of a library.
ffi.cdef "int abs(int); int isdigit(int); enum { SOME = 42 }; int no_such_function(int);"
try("function", function() return ffi.C.abs(-3) + ffi.C.SOME end)
try("missing", function() return (select(2, pcall(function() return ffi.C.no_such_function end)):gsub("^.*: undefined", "undefined")) end)
try("undeclared", function() return ffi.C.undeclared end)
local lib = debug.getmetatable(ffi.C)
local index = lib.__index
lib.__index = function(l, key) return "mine " .. key end
try("other __index", function() return ffi.C.abs end)
lib.__index = index
try("again", function() return ffi.C.abs(-4) end)

-- The metatable of all cdata.
local meta = debug.getmetatable(a)
local get = meta.__index
meta.__index = function(c, key) return key == "x" and "hidden" or get(c, key) end
try("shadowed", function() return a.x, a.y end)
meta.__index = get
try("shown", function() return a.x, a.y end)

-- A hook sees the calls.
local calls = 0
debug.sethook(function() calls = calls + 1 end, "c")
local _ = a.x, ffi.C.abs(-1)
debug.sethook()
print(calls >= 3)
