--- load 60
for i = 1, $t do
  local f, e = $(load|loadstring)("local a, b = ... return $(a|a + b|b, a|(a or 0) * 2|{}|function() return a end|...|x y)", $("=chunk"|"@file.lua"|"code"))
  P(f and pcall(f, i, 2)) P(e)
end
--- load_reader 50
for i = 1, $(2|4) do
  local parts, n = {"local a = ...", " for i = 1, 3 do a = a + i end", " return a", $(nil|"")}, 0
  local f, e = load(function() n = n + 1 $(|if n == 2 then error("reader") end) return parts[n] end, "=parts")
  P(f and pcall(f, i)) P(e and tostring(e))
end
--- load_hot 120
local fs = {}
for i = 1, $(3|6) do fs[i] = loadstring("local n = ... local s = 0 for i = 1, n do s = s + i * " .. i .. " end return s") end
for r = 1, $(2|4) do for i = 1, #fs do C(fs[i]($(5|12))) end end
--- globals 60
counter = 0
function bump(n) counter = counter + N(n) return counter end
for i = 1, $t do C(bump(i))
  if i % $(3|4) == 0 then counter = $n end end
P(counter) counter, bump = nil, nil
--- setfenv 70
local env = setmetatable({x = 1}, {__index = $(_G|{y = 2})})
local function f(n) x = (x or 0) + n return x, y end
for i = 1, $t do
  ?if i == $k then setfenv(f, {x = $n}) end
  P(pcall(f, i))
  ?if i == 2 then setfenv(f, env) end
end
P(env.x, getfenv(f) == env, getfenv(f) == _G) x = nil
--- setfenv_level 50
for i = 1, $(2|4) do
  local function f() setfenv($(1|f), {v = i, C = C}) C(v) return v end
  P(pcall(f)) P(pcall(setfenv, $(f|1|250|print), {}))
end
--- chunk_env 50
for i = 1, $(2|4) do
  local env = {}
  local f = load("a = 1 b = (b or 0) + a return a, b, c", "=env", "t", env)
  P(f()) P(f()) P(env.a, env.b, a)
end
--- globals_meta 60
local seen = 0
setmetatable(_G, {__index = function(_, k) seen = seen + 1 return $(nil|5) end, __newindex = function(t, k, v) rawset(t, k, v) end})
for i = 1, $t do C(not_defined) made = i C(made) end
setmetatable(_G, nil) made = nil P(seen)
--- require 30
package.preload.mod = function(name) return {name = name, f = function(x) return N(x) + $k end} end
for i = 1, $t do local m = require("mod") C(m.f(i)) if i == 2 then package.loaded.mod = nil end end
P(require("mod").name, pcall(require, "no.such.module") == false) package.loaded.mod = nil
--- replaced_builtin 80
local floor, old = math.floor, math.abs
for i = 1, $t do
  C(math.abs(-i)) C(math.floor(i / 2))
  if i == $k then math.abs = function(x) return $k end end
end
math.abs = old
--- string_methods 60
local old = string.len
for i = 1, $t do
  C(("abc"):len()) C(("x"):twice())
  string.twice = function(s) return s .. s end
  if i == $(2|5) then string.len = function() return 7 end end
end
string.len, string.twice = old, nil
