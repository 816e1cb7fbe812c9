-- Odd arguments to what has effects: files, environments, coroutines, hooks (see odd_arguments.lua for the rest).
local name = os.tmpname()
local function try(...)
  local r = { pcall(...) }
  for i = 1, select("#", ...) + 3 do
    r[i] = type(r[i]) == "string" and r[i]:gsub(name, "FILE", 1):gsub("0x%x%x%x+", "ADDR"):gsub("builtin#%d+", "builtin") or
      type(r[i]) == "number" and tostring(r[i]) or r[i] == nil and "nil" or type(r[i]) == "boolean" and tostring(r[i]) or type(r[i])
  end
  while r[#r] == "nil" do r[#r] = nil end
  print(unpack(r))
end
local h = assert(io.open(name, "w"))
h:write("12 0x1f abc\nline two\n\n3.5e1x\nlast")
print(debug.getfenv(h) == getmetatable(h))
try(h.read, h) try(h.write, h, {}) try(h.write, h, nil) try(h.setvbuf, h, "some") try(h.seek, h, "x") try(h.seek, h, "set", "y")
h:close()
try(h.read, h) try(h.write, h, 1) try(h.close, h) try(h.lines, h) try(h.seek, h) try(h.flush, h) try(tostring, h) try(io.type, h)
try(function() return h.foo end) try(function() h.foo = 1 end) try(function() h.foo() end)
-- Counts that no buffer holds.
h = assert(io.open(name))
for _, n in ipairs { -1, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1 / 0, -1 / 0, 0 / 0 } do try(h.read, h, n) end
for _, f in ipairs { 0, 1.9, "*n", "n", "*l", "*L", "*a", "*x", "", true, {} } do try(h.read, h, f) end
try(h.read, h, 0, -1)
h:close()
for _, f in ipairs { "*n", 3, -1, "q" } do try(io.lines, name, f) try(function() return io.lines(name, f)() end) end
for _, mode in ipairs { "", "q", "rw", "r+b", "rb+", 5, {} } do try(io.open, name, mode) end
try(io.open) try(io.open, {}) try(io.open, "/nowhere/x") try(io.lines, "/nowhere/x") try(io.input, "/nowhere/x") try(io.output, "/nowhere/x")
try(io.type) try(io.type, 1) try(io.popen, "true", "x") try(io.close, 1) try(io.input, {}) try(io.output, true) try(io.lines, {})
try(os.remove, "/nowhere/x") try(os.remove) try(os.rename, "/nowhere/x", "y") try(os.rename, "x")
for _, f in ipairs { "dofile", "loadfile" } do try(_G[f], "/nowhere/x") try(_G[f], name) try(_G[f], {}) try(_G[f], true) end
try(loadfile, name, "b") try(loadfile, name, {}) try(loadfile, name, "t", 5)
os.remove(name)
try(require) try(require, {}) try(module) try(module, "string.x.y") try(module, "math.pi.x")
try(package.searchpath, "a\0b", "./?.lua\0;x") try(package.searchpath, "a.b", "?;?", "", "x") try(package.seeall, 1) try(package.loadlib, "x")
try(setfenv, 1, 1) try(setfenv, -1, {}) try(setfenv, 100, {}) try(setfenv, print, {}) try(setfenv, {}, {}) try(getfenv, -1) try(getfenv, 100) try(getfenv, {})
try(debug.setfenv, 1, {}) try(debug.setfenv, {}, {}) try(newproxy, 1) try(newproxy, newproxy(false))
for _, f in ipairs { "create", "wrap", "resume", "status", "running", "yield" } do try(coroutine[f]) try(coroutine[f], 1) try(coroutine[f], {}) end
for _, l in ipairs { -1, 100, 2 ^ 31, 0 / 0 } do
  try(debug.traceback, "m", l) try(debug.getinfo, l) try(debug.getlocal, l, 1) try(debug.setlocal, l, 1, 1)
end
try(debug.getinfo, 1, ">") try(debug.getinfo, 1, "X") try(debug.getinfo, print, "S\0X") try(debug.sethook, 1) try(debug.sethook, print, 1) debug.sethook()
try(debug.getupvalue, print, 1) try(debug.getupvalue, try, 0) try(debug.setupvalue, try, 99, 1) try(debug.upvalueid, try, 99) try(debug.upvalueid, try, 1)
try(debug.upvaluejoin, try, 1, print, 1) try(debug.upvaluejoin, try, 99, try, 1) try(debug.setmetatable, 1, 1)
for _, t in ipairs { { year = 1e10, month = 1, day = 1 }, { year = 2000, month = 1, day = 1e300 }, { year = 2000, month = -5, day = 400 }, { year = "x", month = 1, day = 1 } } do
  t.isdst = false
  try(os.date, "!%Y", select(2, pcall(os.time, t)))
end
try(os.date, "!%Y %", 0) try(os.date, "!%Ex", 0) try(os.date, {}) try(os.getenv) try(os.getenv, "no such\0x") try(os.difftime) try(os.setlocale, "x") try(os.setlocale, nil, "x")
try(math.deg) try(math.rad, "x") try(math.deg, {}) try(math.deg, "180")
try(string.dump) try(string.dump, print) try(string.dump, 1) try(print, setmetatable({}, { __tostring = function() return 1 end }))
