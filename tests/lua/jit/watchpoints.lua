local t, u = {}, {}
local keys = {}
for i = 1, 10 do keys[i] = "k" .. i end
local M = {}
function M.f(x) return x + 1 end
function M.g(x) return x * 2 end
local function run(n) local s = 0 for i = 1, n do s = s + M.f(i) + math.floor(i / 3) end return s end
print(run(300))
local function fill(o, n) for i = 1, n do o[keys[i % 10 + 1]] = i end end
fill(t, 300)
print(t.k1, t.k10)
M.f = function(x) return x end
print(run(300))
fill(M, 300)
print(M.k5, run(300))
local C = {} C.__index = C
function C.new(v) return setmetatable({v = v}, C) end
function C:get() return self.v end
local function sum(n) local s = 0 for i = 1, n do local o = C.new(i) s = s + o:get() end return s end
print(sum(300))
function C:get() return self.v * 2 end
print(sum(300))
local old = C.__index
C.__index = {get = function() return 1 end}
print(sum(300))
C.__index = old
print(sum(300))
local D = setmetatable({}, {__index = C}) D.__index = D
local function sumd(n) local s = 0 for i = 1, n do local o = setmetatable({v = i}, D) s = s + o:get() end return s end
print(sumd(300))
D.get = function() return 5 end
print(sumd(300))
D.get = nil
print(sumd(300))
setmetatable(D, {__index = {get = function() return 7 end}})
print(sumd(300))
for k in pairs(D) do if k ~= "__index" then D[k] = nil end end
print(sumd(300))
local names = {"get", "x", "get"}
local function defs(T, n) for i = 1, n do local k = names[i % 3 + 1] T[k] = function() return i end end end
defs({}, 300)
defs(D, 300)
print(sumd(300))
table.clear = require "table.clear"
table.clear(D)
print(pcall(sumd, 300))
D.__index = D
print(pcall(sumd, 300))
setmetatable(D, {__index = C})
print(sumd(300))
rawset(D, "get", function() return 11 end)
print(sumd(300))

-- Stored by compiled code: by a key that is known, in a table that is not; by any key; a metatable.
local P = {}
function P.step(x) return x + 1 end
local function steps(n) local s = 0 for i = 1, n do s = P.step(s) end return s end
local function set(o, f, n) for i = 1, n do o.step = f end end
print(steps(300))
set({}, print, 300)
print(steps(300))
set(P, function(x) return x + 2 end, 300)
print(steps(300))
local Q = setmetatable({}, {__index = P})
local function inherited(n) local s = 0 for i = 1, n do s = Q.step(s) end return s end
print(inherited(300))
local function adopt(o, meta, n) for i = 1, n do setmetatable(o[i] or o[1], meta) end end
local plain = {}
for i = 1, 300 do plain[i] = {} end
adopt(plain, {}, 300)
adopt({Q}, {__index = {step = function(x) return x + 3 end}}, 300)
print(inherited(300))

-- In a builtin that compiled code has called, and by an iterator of its own.
local R = {}
function R.value() return 1 end
local changes = {["go"] = function() R.value = function() return 2 end return "" end}
local function calls(n)
  local s = 0
  for i = 1, n do
    s = s + R.value()
    if i == n - 5 then ("go"):gsub("%w+", function(k) return changes[k]() end) end
    s = s + R.value()
  end
  return s
end
print(calls(300), calls(300))

-- A table whose functions change all the time.
local S = {}
local function toggle(n)
  local s = 0
  for i = 1, n do
    S.f = i % 2 == 0 and math.abs or math.floor
    s = s + S.f(-i / 2)
  end
  return s
end
print(toggle(300))
for i = 1, 10 do S.g = function() return i end local function run(n) local s = 0 for k = 1, n do s = s + S.g() end return s end io.write(run(100), " ") end
print()
