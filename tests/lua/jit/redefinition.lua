-- Globals, functions and library entries that are redefined while hot loops use them.

-- A global function.
function global_step(x) return x + 1 end
local x, log = 0, {}
for i = 1, 1000 do
  if i == 300 then function global_step(v) return v + 10 end end
  if i == 600 then global_step = math.abs end
  if i == 700 then global_step = setmetatable({}, { __call = function(_, v) return v - 1 end }) end
  if i == 800 then global_step = function(v) return v * 1 + 0.5 end end
  x = global_step(x)
  if i % 100 == 0 then log[#log + 1] = x end
end
print(table.concat(log, " "))

-- A global variable read and written; its type changes; it is removed.
counter = 0
for i = 1, 500 do counter = counter + i end
print(counter)
flag = false
local on = 0
for i = 1, 900 do
  if i == 300 then flag = true end
  if i == 600 then flag = "yes" end
  if i == 800 then flag = nil end
  if flag then on = on + 1 end
end
print(on, flag)

-- Set by a function called in the loop, through _G, through setfenv, by rawset.
level = 1
local function change(i)
  if i == 200 then level = 2 end
  if i == 400 then _G.level = 3 end
  if i == 600 then rawset(_G, "level", 4) end
  if i == 700 then loadstring("level = 5")() end
  if i == 800 then _G["lev" .. "el"] = 6 end
end
local sum = 0
for i = 1, 1000 do
  change(i)
  sum = sum + level
end
print(sum)
local function env_reader() return value end
value = 1
sum = 0
for i = 1, 600 do
  if i == 200 then setfenv(env_reader, { value = 10 }) end
  if i == 400 then getfenv(env_reader).value = 100 end
  sum = sum + env_reader()
end
print(sum)

-- Library functions replaced in the middle: the loop sees it at once, locals do not.
local floor, sub = math.floor, string.sub
local calls = 0
sum = 0
for i = 1, 900 do
  if i == 300 then
    math.floor = function(v) calls = calls + 1 return floor(v) + 1 end
    string.sub = function(s, a, b) calls = calls + 1 return "zz" end
  end
  if i == 600 then
    math.floor = floor
    string.sub = sub
  end
  sum = sum + math.floor(i / 2) + floor(i / 2) + #("abc"):sub(1, 1) + #sub("abc", 1, 1)
end
print(sum, calls)
local real_type, real_ipairs, real_print = type, ipairs, print
local n = 0
for i = 1, 600 do
  if i == 200 then type = function() return "anything" end end
  if i == 400 then type = real_type end
  if type(i) == "number" then n = n + 1 end
end
ipairs = function(t) return function(_, k) k = k + 1 if k <= 2 then return k, "x" end end, t, 0 end
local ip = 0
for i = 1, 200 do
  if i == 100 then ipairs = real_ipairs end
  for _, v in ipairs { 1, 2, 3 } do ip = ip + 1 end
end
print(n, ip)

-- Methods of a class, fields that hold functions, upvalues that hold functions.
local Class = {}
Class.__index = Class
function Class:get() return 1 end
local obj = setmetatable({}, Class)
local field = { f = function() return 1 end }
local up = function() return 1 end
local function call_up() return up() end
local a, b, c = 0, 0, 0
for i = 1, 900 do
  if i % 300 == 0 then
    local k = i
    function Class:get() return k end
    field.f = function() return k * 2 end
    up = function() return k * 3 end
  end
  a, b, c = a + obj:get(), b + field.f(), c + call_up()
end
print(a, b, c)

-- A function redefines itself, or the function that is calling it.
local function once() once_count = (once_count or 0) + 1 self_made = function() return 2 end return 1 end
self_made = once
sum = 0
for i = 1, 300 do sum = sum + self_made() end
print(sum, once_count)
function ping(i) if i == 150 then ping = function() return 1000 end end return 1 end
sum = 0
for i = 1, 300 do sum = sum + ping(i) end
print(sum)
function outer_fn(i) return inner_fn(i) + 1 end
function inner_fn(i) if i == 100 then function outer_fn() return -1 end end return i end
sum = 0
for i = 1, 200 do sum = sum + outer_fn(i) end
print(sum)

-- Constants in tables used as modules.
local config = { scale = 2, name = "n" }
sum = 0
for i = 1, 900 do
  if i == 300 then config.scale = 2.5 end
  if i == 600 then config = { scale = 1, name = "longer" } end
  sum = sum + config.scale + #config.name
end
print(sum)
print("ok")
