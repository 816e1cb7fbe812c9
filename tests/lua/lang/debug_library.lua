-- debug: getinfo, locals, upvalues, hooks, metatables, environments.

-- getinfo of functions.
local up1, up2 = 1, 2
local function sample(a, b, ...)
  local c = a
  return up1, up2, c
end
local i = debug.getinfo(sample)
print(i.what, i.short_src, i.source:sub(1, 1), i.linedefined, i.lastlinedefined, i.currentline, i.nups, i.func == sample, i.namewhat == "", i.name)
print(i.nparams, i.isvararg)
i = debug.getinfo(print)
print(i.what, i.short_src, i.source, i.linedefined, i.lastlinedefined, i.currentline, i.func == print)
i = debug.getinfo(1, "Sl")
print(i.what, i.currentline, i.linedefined)
i = debug.getinfo(loadstring("\n\nreturn 1", "=chunk"), "S")
print(i.what, i.short_src, i.source, i.linedefined, i.lastlinedefined)
print(debug.getinfo(50), debug.getinfo(1, "f").func ~= nil, debug.getinfo(1, "l").short_src)
local lines = {}
for line in pairs(debug.getinfo(sample, "L").activelines) do lines[#lines + 1] = line end
table.sort(lines)
print(table.concat(lines, " "))

-- getinfo of levels: names by how the function was called.
local function who(level)
  local info = debug.getinfo(level or 2, "nSl")
  return tostring(info.name) .. "/" .. info.namewhat .. "/" .. info.what .. "/" .. tostring(info.currentline > 0)
end
local function as_local() local r = who() return r end
local as_up = as_local
local holder = { field = as_local, deep = { er = as_local } }
function holder:method() local r = who() return r end
function as_global() local r = who() return r end
print(as_local(), (function() local r = as_up() return r end)())
print((holder.field()), (holder:method()), (holder.deep.er()))
local r = as_global()
print(r)
r = setmetatable({}, { __index = function() local v = who() return v end }).key
print(r)
r = setmetatable({}, { __add = function() local v = who() return v end }) + 1
print(r)
for v in function(_, c) if not c then local n = who() return n end end do print(v) end
print((pcall(as_local)), select(2, pcall(as_local)))
print(who(1), (coroutine.wrap(function() local v = as_local() return v end)()))

-- getlocal and setlocal: parameters, locals in scope, loop variables, varargs, temporaries.
local function locals(a, b, ...)
  local x = 10
  do local hidden = 1 end
  local out = {}
  for k = 1, 2 do
    local inside = k
    if k == 2 then
      local n = 1
      while true do
        local name, value = debug.getlocal(1, n)
        if not name then break end
        if name:sub(1, 1) ~= "(" then out[#out + 1] = name .. "=" .. tostring(type(value) == "table" and "table" or value) end
        n = n + 1
      end
    end
  end
  return table.concat(out, " ")
end
print(locals(1, "two", "extra"))
local function setter()
  local v, w = 1, 2
  local name = debug.setlocal(1, 2, "changed")
  return v, w, name, debug.setlocal(1, 100, "x")
end
print(setter())
local function outer_local()
  local mine = "original"
  local function inner()
    debug.setlocal(2, 1, "from inside")
    local name, value = debug.getlocal(2, 1)
    return name, value
  end
  local name, value = inner()
  return mine, name, value
end
print(outer_local())
print((debug.getlocal(sample, 1)), (debug.getlocal(sample, 2)), (debug.getlocal(sample, 3)))
local function varargs(...)
  local name, value = debug.getlocal(1, -1)
  return name, value, select(2, debug.getlocal(1, -2)), (debug.getlocal(1, -3))
end
print(varargs("first", "second"))
print(pcall(debug.getlocal, 100, 1))
local function loopvars()
  local names = {}
  for idx, val in ipairs { "x" } do
    local n = 1
    while debug.getlocal(1, n) do
      names[n] = debug.getlocal(1, n)
      n = n + 1
    end
  end
  return table.concat(names, " ", 1, 6)
end
print(loopvars())

-- Upvalues.
print(debug.getupvalue(sample, 1))
print(debug.getupvalue(sample, 2))
print(debug.getupvalue(sample, 3))
print(debug.setupvalue(sample, 1, "new"), up1, debug.setupvalue(sample, 9, 1))
local function other() return up2 end
print(debug.upvalueid(sample, 2) == debug.upvalueid(other, 1), debug.upvalueid(sample, 1) == debug.upvalueid(other, 1))
local shared_a, shared_b = "a", "b"
local function fa() return shared_a end
local function fb() return shared_b end
debug.upvaluejoin(fa, 1, fb, 1)
shared_b = "joined"
print(fa(), fb(), pcall(debug.upvalueid, fa, 5))

-- Hooks: count, line, call and return. They are not looked at in compiled code.
local compiling = jit.status()
jit.off()
local events = {}
local function traced(n)
  local v = n + 1
  return v
end
debug.sethook(function(event, line) events[#events + 1] = event .. tostring(line) end, "l")
local base = debug.getinfo(1, "l").currentline
traced(1)
debug.sethook()
for k = 1, #events do
  local line = tonumber(events[k]:match("%d+"))
  events[k] = "line" .. (line >= base and "+" .. line - base or "*")
end
print(table.concat(events, " "), debug.gethook())
local calls = 0
debug.sethook(function(event) if event == "call" or event == "tail call" then calls = calls + 1 end end, "c")
traced(1)
traced(2)
debug.sethook()
print(calls >= 2)
local returns = 0
debug.sethook(function() returns = returns + 1 end, "r")
traced(1)
debug.sethook()
print(returns >= 1)
local counted = 0
debug.sethook(function() counted = counted + 1 end, "", 100)
for _ = 1, 10 do loadstring("local x = 0 for i = 1, 200 do x = x + i end")() end
debug.sethook()
print(counted > 5, (debug.gethook()))
print(pcall(function()
  debug.sethook(function()
    debug.sethook()
    error("from hook", 0)
  end, "l")
  local x = 1
  return x
end))
if compiling then jit.on() end

-- Metatables, registry, environments.
print(debug.getmetatable("").__index == string, debug.setmetatable(5, nil), type(debug.getregistry()), debug.getfenv(sample) == _G)
local names = {}
for k in pairs(debug) do names[#names + 1] = k end
table.sort(names)
print(table.concat(names, " "))
print("ok")

-- Traces depend on the metatables of types: a finalizer, which may run at any allocation, cannot set them.
local p = newproxy(true)
getmetatable(p).__gc = function()
  print(pcall(debug.setmetatable, 1, nil))
  print(pcall(debug.setmetatable, 1, 2))
  print(pcall(debug.setmetatable, {}, nil), pcall(debug.setmetatable, newproxy(), {}))
end
p = nil
collectgarbage()
