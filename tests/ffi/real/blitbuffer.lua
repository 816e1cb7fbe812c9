-- KOReader's blitbuffer: its own specification, with as much of its test framework as that needs; then larger pictures.
package.path = "./?.lua;" .. package.path
package.preload["ffi_wrapper"] = function() return true end
package.preload["ffi/util"] = function() return { idiv = function(a, b) return (a - a % b) / b end } end
local bit = require "bit"
local passed, failed, names = 0, 0, {}
local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for k, v in pairs(a) do if not same(v, b[k]) then return false end end
  for k in pairs(b) do if a[k] == nil then return false end end
  return true
end
local function must(ok) if not ok then error("assertion failed", 3) end end
local check = setmetatable({}, { __index = function(_, name)
  -- `assert.are.equal`, `assert.are_not_same`, `assert.is_true`, `assert.True`
  name = name:lower()
  local function test(how)
    local wanted = not how:find("not")
    how = how:gsub("^is_", ""):gsub("^are_", ""):gsub("not_?", ""):gsub("s$", "")
    return function(a, b)
      if how == "true" then b = true elseif how == "false" then b = false elseif how == "nil" then b = nil end
      must((how == "same" and same(a, b) or how ~= "same" and a == b) == wanted)
    end
  end
  if name == "are" or name == "are_not" or name == "is" or name == "is_not" then
    return setmetatable({}, { __index = function(_, how) return test(name .. "_" .. how:lower()) end })
  end
  return test(name)
end })
local real = assert
getmetatable(check).__call = function(_, ...) return real(...) end
assert = check
function describe(name, f) names[#names + 1] = name f() names[#names] = nil end
function it(name, f)
  local ok, message = xpcall(f, debug.traceback)
  if ok then passed = passed + 1 else failed = failed + 1 print(table.concat(names, ": ") .. ": " .. name .. ": " .. message) end
end
function setup(f) f() end
function teardown() end
before_each, after_each = setup, teardown
dofile("spec/unit/blitbuffer_spec.lua")
local BB = require "ffi/blitbuffer"
for _, kind in ipairs { BB.TYPE_BB8, BB.TYPE_BB8A, BB.TYPE_BBRGB16, BB.TYPE_BBRGB24, BB.TYPE_BBRGB32 } do
  local a, b = BB.new(120, 80, kind), BB.new(60, 40, kind)
  a:fill(BB.COLOR_WHITE)
  a:paintRect(10, 10, 50, 30, BB.gray(0.5))
  a:paintCircle(60, 40, 20, BB.COLOR_BLACK)
  b:blitFrom(a, 0, 0, 30, 20, 60, 40)
  a:blitFrom(b:rotatedCopy(90), 5, 5, 0, 0, 40, 60)
  a:invert()
  local sum = 0
  for y = 0, 79 do for x = 0, 119 do sum = bit.tobit(sum * 31 + a:getPixel(x, y):getColor8().a) end end
  print(kind, sum)
end
print(passed .. " passed, " .. failed .. " failed")
