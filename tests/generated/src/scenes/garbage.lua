--- weak_values 80
local t = setmetatable({}, {__mode = $("v"|"kv")})
coroutine.wrap(function() for i = 1, $(4|9) do t[i] = {} t["s" .. i] = "text" t[i + 100] = i end end)()
local kept = {}
t.kept = kept
collectgarbage() collectgarbage()
local n = 0
for k, v in pairs(t) do if type(v) ~= "table" then n = n + 1 end end
P(n, t.kept == kept, t.s1, t[101])
--- weak_keys 80
local t = setmetatable({}, {__mode = "k"})
local kept = {}
coroutine.wrap(function() for i = 1, $(4|9) do t[{}] = i t[i] = {} end end)()
t[kept] = $(1|kept|{kept})
collectgarbage() collectgarbage()
P(t[kept] ~= nil, type(t[1]), type(t[3]))
--- finalizers 90
local n = 0
coroutine.wrap(function() for i = 1, $(2|5) do local p = newproxy(true) getmetatable(p).__gc = function() n = n + 1 end end end)()
collectgarbage() collectgarbage()
P(n >= 0, type(n))
--- finalizers_that_work 90
local log = {}
local function make(i) local p = newproxy(true) getmetatable(p).__gc = function(o) log[#log + 1] = i $(|local t = {} for j = 1, 5 do t[j] = {j} end|coroutine.wrap(function() coroutine.yield() end)()|pcall(error, "gc")|local x = ("a"):rep(50)) end return p end
for i = 1, $t do make(i)
  C(i) end
collectgarbage() collectgarbage()
P(#log >= 0)
--- proxies 60
local p = newproxy(true)
local mt = getmetatable(p)
mt.__index = function(_, k) return $(k|$n) end mt.__len = function() return $k end mt.__call = function(_, ...) return ... end mt.__add = function(a, b) return $k end mt.__tostring = function() return "proxy" end
local q = newproxy(p)
for i = 1, $t do C(p[i]) C(#p) C(p(i)) C(p + 1) C(tostring(q)) C(p == q) C(type(p)) end
--- steps 100
for i = 1, $t do
  local t = {}
  for j = 1, $(5|10) do t[j] = {j, ("x"):rep(j)} end
  collectgarbage($("step"|"step", 1|"collect"|"count"))
  C(#t) C(t[3][1])
end
P(type(collectgarbage("count")), pcall(collectgarbage, "nonsense"))
--- stop_restart 80
collectgarbage("stop")
local s = 0
for i = 1, $(10|20) do local t = {i, {i}} s = s + t[2][1] end
collectgarbage("restart") collectgarbage()
P(s)
--- pause 60
local old = collectgarbage("setpause", $(0|100|400))
local t = {}
for i = 1, $(20|30) do t[i % 7] = {tostring(i), i .. "x"} end
collectgarbage("setpause", old)
P(t[1][1], t[6][2])
--- cycles 80
for i = 1, $t do
  local a, b = {}, {}
  a.b, b.a, a.f = b, a, function() return a, b end
  local c = coroutine.create(function() coroutine.yield(a) return b end)
  coroutine.resume(c) a.c = c
  ?if i % 3 == 0 then collectgarbage() end
  C(a.f() == a) C(coroutine.status(c))
end
--- barriers 100
local old = {{}, {}, {}}
collectgarbage()
for i = 1, $(10|20) do
  old[i % 3 + 1].x = {i}
  old[i % 3 + 1][i] = "v" .. i
  ?setmetatable(old[1], {__index = {y = i}})
  ?collectgarbage("step")
  C(old[1].x and old[1].x[1]) C(old[2][i])
end
--- upvalues_of_dead 80
local fs = {}
for i = 1, $(3|6) do fs[i] = coroutine.wrap(function() local x = {i} coroutine.yield(function() x[1] = x[1] + 1 return x[1] end) end)() end
collectgarbage()
for r = 1, 3 do for i = 1, #fs do C(fs[i]()) end end
--- loaded_code_dies 100
for i = 1, $(3|6) do local f = loadstring("local s = 0 for i = 1, 12 do s = s + i end return s") C(f()) f = nil $(|collectgarbage()) end
--- ephemeral 70
local cache = setmetatable({}, {__mode = "k"})
local function memo(k) local v = cache[k] if not v then v = {k} cache[k] = v end return v end
local keys = {}
for i = 1, $t do keys[i % 4] = {} C(memo(keys[i % 4])[1] == keys[i % 4])
  if i % 3 == 0 then collectgarbage() end end
--- finalizers_that_need_stack 260 often
local function deep(n) if n < 1 then return 0 end return 1 + deep(n - 1) end
local function proxy(n)
  local p = newproxy(true)
  getmetatable(p).__gc = function() $(deep(n)|deep(n)|deep(n)|pcall(deep, n)|select("#", unpack({}, 1, n))|string.byte(("x"):rep(n), 1, -1)) end
end
local function work(i, times)
  local a, b, c = i, $k, "c"
  for j = 1, times do
    local s = ("x"):rep($(100|1000|4000) + j)
    local t = $({j, a}|{}|{s}|function() return j, s end|"s" .. j .. s|{x = j, y = {}})
    a = a + j
    b = $(deep(j % 3)|type(t)|select("#", deep(1), t))
    ?c = b
    ?if type(t) == "table" then a = a + #t end
  end
  return a, b, c
end
local pause, multiple = collectgarbage("setpause", $(0|10|100)), collectgarbage("setstepmul", $(200|10000|10000))
local ballast = ("b"):rep($(1|300000|300000))
collectgarbage()
for i = 1, $(4|8) do
  proxy($(60|150|220|i * 30))
  P(coroutine.resume(coroutine.create(work), i, $(10|20|30)))
  ?C(work(i, 10))
end
collectgarbage("setpause", pause) collectgarbage("setstepmul", multiple)
--- stores_into_old 150 often
local old, sum = {}, 0
for i = 1, 4 do old[i] = {x = {}, y = $(1|{})} old["k" .. i] = {} end
local pause, multiple = collectgarbage("setpause", $(0|0|100)), collectgarbage("setstepmul", $(200|1000|4000))
local ballast = ("b"):rep($(1|300000|300000))
collectgarbage()
local function fresh(i) return $({i}|function() return i end|"v" .. i|{i, {}}) end
local function look(v) if type(v) == "table" then return v[1] elseif type(v) == "function" then return v() end return v end
for i = 1, $(20|30|40) do
  local o = old[i % 4 + 1]
  *$(o.x = fresh(i)|o[i % 3] = fresh(i)|old["k" .. i % 4 + 1] = fresh(i)|o.x = {i}|rawset(o, $("z"|i), fresh(i))|if #o < 9 then table.insert(o, fresh(i)) end|o.y = "y" .. i)
  local garbage = {i, $({}|"g" .. i|("x"):rep($(200|1500|3000)) .. i)}
  if i % $(5|7|9) == 0 then for j = 1, 4 do C(look(old[j].x)) C(look(old[j][1])) C(look(old[j].y)) C(look(old["k" .. j])) end end
end
collectgarbage("setpause", pause) collectgarbage("setstepmul", multiple)
