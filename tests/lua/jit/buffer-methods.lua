-- Methods of string.buffer in compiled code: the number of bytes, texts that are taken out or stay, buffers that read from strings, that grow,
-- and what is left to the interpreter.
local buffer = require "string.buffer"

local function lengths(n)
  local b, s = buffer.new(), 0
  for i = 1, n do
    b:put("ab", i, 0.5)
    s = s + #b
    if i % 50 == 0 then b:reset() end
  end
  return s, b:tostring()
end
print(lengths(300))

local function queue(n)
  local b, t = buffer.new(), {}
  for i = 1, n do
    b:put("<", i, ">")
    local x = b:get(2)
    b:skip(1)
    if i % 7 == 0 then t[#t + 1] = x .. b:get() end
  end
  return #t, t[1], t[#t], #b
end
print(queue(400))

-- A buffer that reads from a string has to copy it before something is put.
local function source(n)
  local b, s = buffer.new(), 0
  for i = 1, n do
    b:set("hello world")
    s = s + #b:get(5) + #b
    if i % 10 == 0 then b:put("!") s = s + #b:tostring() end
    if i % 15 == 0 then b:reset() s = s + #b:put("x") end
  end
  return s, b:tostring()
end
print(source(300))

-- New buffers grow; so does one that is never read.
local function grow(n)
  local s, all = 0, buffer.new()
  for i = 1, n do
    local b = buffer.new()
    b:put("a text of more than thirty-two bytes: ", i)
    s = s + #b
    all:put(b:get(6))
  end
  return s, #all, all:get(9)
end
print(grow(2000))

local function formats(n)
  local b = buffer.new()
  for i = 1, n do
    b:reset():putf("%d%% of %s, %s: %5.2f\n", i, "all", i / 2, i / 3)
    b:putf("<%s|%i>", i % 3 == 0 and "fizz" or i, i)
    b:putf("text")
    b:putf("%s", nil)
  end
  return b:tostring()
end
print(formats(200))

-- Sizes that are not ints, or are negative.
local function sizes(n)
  local b, s = buffer.new(), 0
  for i = 1, n do
    b:reset():put("0123456789")
    s = s + #b:get(i % 20 == 0 and 2.9 or 3)
    b:skip(i % 30 == 0 and 1.5 or 2)
    s = s + #b:get(nil)
    if #b:get() > 0 then error("not empty") end
  end
  return s
end
print(sizes(300))
print(pcall(function()
  local b = buffer.new()
  for i = 1, 200 do b:put("x"):skip(150 - i) end
end))
print(pcall(function()
  local b, s = buffer.new(), 0
  for i = 1, 200 do s = s + #b:put("xyz"):get(150 - i) end
end))

-- Several results.
local function several(n)
  local b, s = buffer.new(), ""
  for i = 1, n do
    local x, y = b:reset():put("abcdef"):get(1, 2)
    s = x .. y .. b:get()
  end
  return s
end
print(several(200))

-- Something else than a buffer.
local methods = getmetatable(buffer.new()) == "buffer" and debug.getmetatable(buffer.new())
local function other(n)
  local b, file = buffer.new(), io.tmpfile()
  local meta = debug.getmetatable(file)
  debug.setmetatable(file, methods)
  local s, fails = 0, 0
  for i = 1, n do
    local x = i > 150 and file or b
    local ok, len = pcall(methods.__len, x)
    if ok then s = s + len b:put("x") else fails = fails + 1 end
    if not pcall(methods.reset, x) then fails = fails + 1 end
    if not pcall(methods.get, x) then fails = fails + 1 end
    if not pcall(methods.set, x, "y") then fails = fails + 1 end
    if not pcall(methods.skip, x, 1) then fails = fails + 1 end
    if not pcall(methods.tostring, x) then fails = fails + 1 end
    if not pcall(methods.put, x, "z") then fails = fails + 1 end
  end
  debug.setmetatable(file, meta)
  return s, fails
end
print(other(200))

-- Dictionaries keep the string that is read alive in another place.
local function dictionary(n)
  local b, s = buffer.new { dict = { "x", "y" } }, 0
  for i = 1, n do
    b:set("text " .. i)
    collectgarbage("step")
    s = s + #b
    b:reset()
    b:encode { x = i }
    s = s + b:decode().x
  end
  return s
end
print(dictionary(300))

-- Everything at once, with collections.
local function mixed(n)
  local b, list = buffer.new(), {}
  for i = 1, n do
    b:put("item ", i, ";")
    if #b > 100 then
      list[#list + 1] = b:get(50)
      if #list > 10 then list = { table.concat(list):sub(-20) } end
    end
    if i % 97 == 0 then collectgarbage() end
  end
  return #b, #list, list[1]
end
print(mixed(5000))
