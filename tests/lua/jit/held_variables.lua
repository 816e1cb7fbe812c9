-- A local variable that is not read any more keeps its object from being collected while it is in scope, in compiled code too.
local ffi = require("ffi")
local weak = setmetatable({}, { __mode = "k" })
local function is_there(i)
  for _, v in pairs(weak) do
    if v == i then return true end
  end
  return false
end
local kinds = {
  table = function() return {} end,
  closure = function() local n = 0 return function() n = n + 1 return n end end,
  cdata = function() return ffi.new("int[4]") end,
  userdata = function() return newproxy() end,
}
local names = { "table", "closure", "cdata", "userdata" }

-- In the frame that runs, in that of a caller, and where a loop comes between.
local function in_the_frame(new, i)
  local object = new()
  weak[object] = i
  collectgarbage()
  return is_there(i)
end
local function collect_and_look(i)
  collectgarbage()
  return is_there(i)
end
local function in_a_caller(new, i)
  local object = new()
  weak[object] = i
  local found = collect_and_look(i)
  return found
end
local function around_a_loop(new, i)
  local object = new()
  weak[object] = i
  local sum = 0
  for k = 1, 20 do sum = sum + k end
  collectgarbage()
  local found = is_there(i)
  return found and sum == 210
end
local function in_a_block(new, i)
  do
    local object = new()
    weak[object] = i
  end
  local other = {}
  collectgarbage()
  return is_there(i), other
end
for _, name in ipairs(names) do
  local found, looped, called = 0, 0, 0
  for i = 1, 150 do
    if in_the_frame(kinds[name], i) then found = found + 1 end
    if in_a_caller(kinds[name], i) then called = called + 1 end
    if around_a_loop(kinds[name], i) then looped = looped + 1 end
  end
  print(name, found, called, looped)
end
local left = 0
for i = 1, 150 do
  if in_a_block(kinds.table, i) then left = left + 1 end
end
print("after its scope", left)

-- A C pointer into the object of such a variable: the memory is not used again.
local function fill(p, v) for k = 0, 99 do p[k] = v end end
local function sum(p) local s = 0 for k = 0, 99 do s = s + p[k] end return s end
local junk, bad = {}, 0
for i = 1, 1000 do
  local array = ffi.new("int[100]")
  local p = ffi.cast("int *", array)
  fill(p, i)
  if i % 7 == 0 then collectgarbage() end
  for k = 1, 3 do junk[k] = ffi.new("int[100]") end
  if sum(p) ~= i * 100 then bad = bad + 1 end
end
print("arrays", bad)
bad = 0
for i = 1, 1000 do
  local text = ("%06d"):format(i):rep(20)
  local p = ffi.cast("const char *", text)
  if i % 7 == 0 then collectgarbage() end
  for k = 1, 3 do junk[k] = ("x%d"):format(i + k):rep(20) end
  if ffi.string(p, 6) ~= ("%06d"):format(i) then bad = bad + 1 end
end
print("strings", bad)
bad = 0
local pool = {}
for i = 1, 1000 do
  pool[1] = ffi.new("int[100]")
  local buffer = pool[1]
  pool[1] = nil
  local p = ffi.cast("int *", buffer)
  fill(p, i)
  if i % 7 == 0 then collectgarbage() end
  for k = 1, 3 do junk[k] = ffi.new("int[100]") end
  if sum(p) ~= i * 100 then bad = bad + 1 end
end
print("from a pool", bad)
local finalized, early = 0, 0
for i = 1, 300 do
  local done = false
  local guard = ffi.gc(ffi.new("int[1]"), function() done = true finalized = finalized + 1 end)
  if i % 3 == 0 then collectgarbage() end
  if done then early = early + 1 end
end
print("finalizers", early, finalized > 200)

-- An object that nothing else refers to is not made for such a variable.
local function length(x, y)
  local v = { x = x, y = y }
  local d = v.x * v.x + v.y * v.y
  return d
end
local total = 0
for i = 1, 1000 do total = total + length(i, i + 1) end
print(total)
