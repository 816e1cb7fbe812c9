-- `load` with a function: when it is called, what it may do, how it ends.

local function pieces(source, size)
  local pos, calls = 1, 0
  return function()
    calls = calls + 1
    local piece = source:sub(pos, pos + size - 1)
    pos = pos + size
    return piece
  end, function() return calls end
end

-- It is called when the lexer has used what it got, so not any more once the source is wrong.
local function count(source, size, name)
  local reader, calls = pieces(source, size or 1)
  local f, message = load(reader, name or "=c")
  print((("%q"):format(source:sub(1, 40)):gsub("[\n\r%z\128-\255]", "?")), calls(), f and "compiles" or message)
end
for _, source in ipairs {
  "return 1", "return (", "*a = 123", "x = 'abc", "x = 'a\nb'", "x = '\\xg0 '", "x = '\\x4g '", "x = '\\999 '", "x = '\\u{110000} '",
  "x = '\\u{41} '", "x = '\\u{g} '", "x = '\\z  \n a'", "x = [==[ a ]=] ]==] y", "x = [==x y", "--[[ a ]] x", "--[==[ a", "-- a\n*", "--[a\n*", "x = 0x1p+1 + )",
  "x = 1e+ )", "x = 1_000 )", "x = .5.5 )", "x ~>", "x ~> y", "x = a ~>> b", "goto x ::x:: ::x:: y", "a.b:c 'x' )", "a... b", "x = -> ", "x = ? ",
  "#!first\nreturn 1", "#!first\r\nreturn (", "#!first", "\239\187\191return 1", "\239\187\191#x\n*", "#x\n\27LJ", "\27", "\27Lua and more",
} do
  count(source)
  count(source, 3)
end
count(("local x = 1\n"):rep(100) .. "!" .. (" "):rep(1000), 7)
count(("-- comment\n"):rep(1000) .. "x = " .. ("'abc' .. "):rep(150) .. "1.5 .. 2 3", 5)
count("x = [[" .. ("line\n"):rep(1000) .. "]] 'near'", 11)

-- Modes and bytecode.
local dumped = string.dump(function(...) local t = { "constant", ... } return #t, function() return t end end)
for _, size in ipairs { 1, 2, 14, 50, #dumped } do
  local reader, calls = pieces(dumped, size)
  print(size < 50 or calls(), (load(reader, "=b")(1, 2)))
end
for _, mode in ipairs { "t", "b", "bt", "" } do
  local text, of_text = pieces("return 1", 1)
  local binary, of_binary = pieces(dumped, 1)
  print(mode, select(2, load(text, "=m", mode)), of_text(), select(2, load(binary, "=m", mode)), of_binary() > 20 or of_binary())
end
for n = 0, #dumped - 1, 7 do assert(not load(pieces(dumped:sub(1, n) .. (n == 0 and "(" or ""), 3), "=b")) end
print(load(pieces(dumped .. "x", #dumped + 1), "=b"))
print(type(load(pieces(dumped .. "x", 1), "=b")))

-- The end: nil, nothing, an empty string; it is not called again. Numbers are pieces, other values are errors.
for _, ending in ipairs { function() end, function() return nil end, function() return "" end } do
  local n = 0
  print(load(function()
    n = n + 1
    if n == 1 then return "return 7" end
    return ending()
  end)(), n)
end
local numbers = { "return ", 1, 2.5, " + ", 1 }
local i = 0
print(load(function() i = i + 1 return numbers[i] end)())
for _, wrong in ipairs { true, {}, print } do print(select(2, pcall(load, function() return wrong end))) end
print(pcall(load, {}))

-- Errors, of any value, also in the middle; handlers around see them.
local value = { "an error value" }
print(select(2, load(function() error(value) end)) == value)
local function try(...) print(pcall(load, ...)) end
try(function() error("at once", 0) end)
i = 0
try(function() i = i + 1 if i == 3 then error("in the middle", 0) end return "x = 'a' " end)
try(function() local x = nil; return x.y end, "=c")
print(xpcall(function() return load(function() error("inner", 0) end) end, function(m) return "handled: " .. m end))
i = 0
try(function() i = i + 1 return i > 5 and error("with bytecode", 0) or dumped:sub(i, i) end)

-- It does not yield.
print(coroutine.wrap(function() return load(function() coroutine.yield("x") end) end)())
print(coroutine.wrap(function()
  return load(function()
    coroutine.wrap(function() coroutine.yield(1) end)()
    return nil
  end)
end)() ~= nil)

-- It may do whatever a function may: load, collect, use the stack, throw and catch, make garbage of the chunk's name.
local function busy(source, depth)
  local pos = 0
  return function()
    pos = pos + 1
    if depth > 0 and pos % 9 == 0 then
      assert(load(busy(source, depth - 1), "=inner" .. depth))
      pcall(load, function() error("inner error") end)
    end
    if pos % 50 == 0 then collectgarbage() end
    local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
    assert(deep(pos % 7 == 0 and 2000 or 3) > 0)
    local s = source:sub(pos, pos)
    return s ~= "" and s or nil
  end
end
local source = [==[
local a, b = 'string', [[long
string]]
local t = { 1, 2.5, "x", k = "v", [10] = function(...) return a .. b, ... end }
for i = 1, 3 do t[#t + 1] = i end
return #t, t[10]("and"), "more " .. t.k]==]
print(load(busy(source, 2), "=name" .. #source)(1))
i = 0
print(load(function()
  debug.setlocal(2, 2, nil)
  collectgarbage()
  i = i + 1
  return i < 40 and "x = 'a' " or "!"
end, "=" .. ("long name"):rep(5)))

-- Nothing of a comment is kept.
i = 0
print(load(function()
  i = i + 1
  return i < 100000 and "-- a comment \n  " or i == 100000 and "--[[" or i < 200000 and "long comment\n" or i == 200000 and "]] return 'end'" or nil
end)())

-- In a loop that is compiled.
local sum = 0
for k = 1, 300 do
  local given = false
  sum = sum + load(function()
    if given then return end
    given = true
    return "return " .. k
  end)()
end
print(sum)
