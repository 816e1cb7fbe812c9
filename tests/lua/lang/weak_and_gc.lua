-- Weak tables, finalizers through newproxy, and collectgarbage in all its forms.

local function collect()
  -- What earlier calls left in the stack above this frame is overwritten first.
  local _, _, _, _, _, _, _, _, _, _, _, _ = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
  collectgarbage()
  collectgarbage()
end
local function size(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- Weak values: objects go, strings, numbers and booleans stay.
local values = setmetatable({}, { __mode = "v" })
local held = {}
for i = 1, 10 do
  values[i] = {}
  if i % 2 == 0 then held[#held + 1] = values[i] end
end
values.s, values.n, values.b, values.f = "str", 1.5, true, function() end
values.long = ("x"):rep(1000) .. "y"
collect()
print(size(values), values[1], values[2] == held[1], values.s, values.n, values.b, values.f, #values.long)
held = nil
collect()
print(size(values))

-- Weak keys.
local keys = setmetatable({}, { __mode = "k" })
local k1 = {}
keys[k1], keys[{}], keys[function() end], keys.s, keys[1] = "kept", "gone", "gone", "name", "one"
keys.obj = {}
collect()
print(size(keys), keys[k1], keys.s, keys[1], type(keys.obj))
k1 = nil
collect()
print(size(keys))

-- Both.
local both = setmetatable({}, { __mode = "kv" })
local a, b = {}, {}
both[a], both[{}], both[1], both[b] = 1, a, {}, b
collect()
print(size(both), both[a], both[b] == b)
a, b = nil, nil
collect()
print(size(both))

-- A weak table stays usable while it loses entries; mode may be set later, by a shared metatable.
local weak_mt = {}
local cache = setmetatable({}, weak_mt)
for i = 1, 100 do cache["k" .. i] = { i } end
collect()
print(size(cache))
weak_mt.__mode = "v"
setmetatable(cache, weak_mt)
collect()
print(size(cache))
for i = 1, 50 do cache["n" .. i] = i end
print(size(cache))

-- Weak references to functions, threads and userdata.
local refs = setmetatable({}, { __mode = "v" })
refs[1], refs[2], refs[3] = coroutine.create(print), newproxy(true), loadstring("return 1")
local kept = coroutine.create(print)
refs[4] = kept
collect()
print(refs[1], refs[2], refs[3], refs[4] == kept)

-- Cycles are collected.
do
  local x, y = {}, {}
  x.y, y.x = y, x
  x.f = function() return x, y end
  refs.x, refs.y = x, y
end
collect()
print(refs.x, refs.y)

-- Finalizers: once each, last made first, errors inside __gc do not stop the collector's caller.
local log = {}
local function proxy(name)
  local p = newproxy(true)
  getmetatable(p).__gc = function(o) log[#log + 1] = name .. ":" .. type(o) end
  return p
end
do
  local p1, p2, p3 = proxy "p1", proxy "p2", proxy "p3"
end
collect()
print(table.concat(log, " "))
collect()
print(#log)

-- A finalizer may bring its object back, for one more life without finalizer.
local saved
do
  local p = newproxy(true)
  getmetatable(p).__gc = function(o) saved = o end
end
collect()
print(type(saved))
saved = nil
collect()
print(saved)

-- Finalizers can allocate, call functions, and see their upvalues.
local total = 0
for i = 1, 20 do
  local p = newproxy(true)
  local tag = { i }
  getmetatable(p).__gc = function()
    local t = {}
    for j = 1, 50 do t[j] = { j } end
    total = total + tag[1] + #t
  end
end
collect()
print(total)

-- __gc on tables is not used.
setmetatable({}, { __gc = function() error("no") end })
collect()

-- collectgarbage's options.
print(collectgarbage("collect"), collectgarbage(), type(collectgarbage("count")), collectgarbage("count") > 10)
print(type(collectgarbage("step")), type(collectgarbage("step", 100)))
print(collectgarbage("setpause", 150), collectgarbage("setpause", 200), collectgarbage("setstepmul", 300), collectgarbage("setstepmul", 200))
print(pcall(collectgarbage, "nonsense"))
collectgarbage("stop")
local before = collectgarbage("count")
for i = 1, 2000 do local _ = { i, i } end
local grown = collectgarbage("count") > before
collectgarbage("restart")
collect()
print(grown, collectgarbage("count") < before + 50)
repeat until collectgarbage("step", 10)
local limit = collectgarbage("count") * 3 + 2000
for i = 1, 200000 do local _ = { i } end
print(collectgarbage("count") < limit, type(gcinfo()))

-- Memory really comes back.
local base = collectgarbage("count")
local big = {}
for i = 1, 20000 do big[i] = { i } end
print(collectgarbage("count") > base + 500)
big = nil
collect()
print(collectgarbage("count") < base + 100)
print("ok")

-- Collecting, or a step of it, restarts a collector that was stopped.
collectgarbage("stop")
print("stopped", collectgarbage("isrunning"))
collectgarbage("count")
print("count", collectgarbage("isrunning"))
collectgarbage("step", 0)
print("step", collectgarbage("isrunning"))
collectgarbage("stop")
collectgarbage()
print("collect", collectgarbage("isrunning"))
collectgarbage("restart")

-- A full collection in a finalizer calls the finalizers that are due.
local function watched(name, f)
  getmetatable(newproxy(true)).__gc = function()
    print(name)
    f()
  end
end
watched("outer", function()
  watched("inner", function() end)
  collectgarbage()
  print("outer ends")
end)
collectgarbage()
print("collected")
