-- string.buffer: what is decoded is encoded and decoded again, values made of the bytes are, and the methods do what the same does with
-- strings.
local buffer = require "string.buffer"
local encode, decode, new = buffer.encode, buffer.decode, buffer.new

local meta = { {}, { __index = function() end } }
local options = { dict = { "key", "a", "value", "" }, metatable = meta }

local function same(a, b, depth)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b or a ~= a and b ~= b end
  if depth > 200 then return true end
  for k, v in next, a do
    -- Keys that are tables or userdata are others after that.
    if type(k) ~= "table" and not same(v, rawget(b, k), depth + 1) then return false end
  end
  for k in next, b do
    if type(k) ~= "table" and rawget(a, k) == nil then return false end
  end
  return getmetatable(a) == getmetatable(b)
end

-- Makes a value of the bytes.
local function make(s)
  local at = 0
  local function byte()
    at = at + 1
    return s:byte(at) or 0
  end
  local function value(depth)
    local b = byte()
    local kind = b % 10
    if kind == 0 then return nil
    elseif kind == 1 then return b > 128
    elseif kind == 2 then return byte() - 128
    elseif kind == 3 then return (byte() - 128) * 2 ^ (byte() - 128)
    elseif kind == 4 then
      local n = byte() % 16
      at = at + n
      return s:sub(at - n + 1, at)
    elseif kind == 5 then return options.dict[byte() % 4 + 1]
    elseif kind == 6 then return ("x"):rep(byte() * (byte() % 2 == 0 and 1 or 200))
    elseif kind == 7 and byte() == 0 then return 0 / 0
    elseif depth > 6 then return depth end
    local t = {}
    for i = 1, byte() % 6 do
      if byte() % 2 == 0 then
        t[i] = value(depth + 1)
      else
        local k = value(depth + 1)
        if k ~= nil and k == k and type(k) ~= "table" then t[k] = value(depth + 1) end
      end
    end
    return setmetatable(t, meta[byte() % 6])
  end
  return value(0)
end

local function values(s)
  local v = make(s)
  local b = new(options)
  b:encode(v)
  local back = b:decode()
  assert(#b == 0 and same(v, back, 0), "a value comes back as another one")
  b:encode(v):encode(1)
  assert(same(b:decode(), v, 0) and b:decode() == 1, "one value is read into the next")
  local plain = decode(encode(v))
  assert(type(plain) == type(v))
end

local function bytes(s)
  local ok, v = pcall(decode, s)
  if ok and v ~= nil then
    local ok2, again = pcall(encode, v)
    if ok2 then assert(same(v, decode(again), 0), "what was decoded comes back as something else") end
  end
  local b = new(options):set(s)
  for i = 1, 20 do
    if not pcall(b.decode, b) then break end
  end
end

-- Methods against a string.
local function methods(s)
  local b, model = new(s:byte(1) or 0), ""
  for at = 2, math.min(#s, 200), 3 do
    local what, n, piece = s:byte(at), s:byte(at + 1) or 0, s:sub(at, at + (s:byte(at + 2) or 0) % 40)
    what = what % 9
    if what == 0 then b:put(piece, n) model = model .. piece .. n
    elseif what == 1 then
      local got = b:get(n % 50)
      assert(got == model:sub(1, n % 50), "get")
      model = model:sub(n % 50 + 1)
    elseif what == 2 then b:skip(n % 30) model = model:sub(n % 30 + 1)
    elseif what == 3 then b:set(piece) model = piece
    elseif what == 4 then b:reset() model = ""
    elseif what == 5 then b:putf("%5d|%s", n, piece) model = model .. ("%5d|%s"):format(n, piece)
    elseif what == 6 then b = new():put(b, b) model = model .. model model = model:sub(1, 4000) b:set(model)
    elseif what == 7 then collectgarbage("step", n)
    else b:encode(n) assert(select("#", b:tostring()) == 1) b:set(model) end
    assert(#b == #model and tostring(b) == model, "a buffer has other bytes than it was given")
  end
  b:free()
end

return function(how, s)
  if how == 0 then return bytes(s) elseif how == 1 then return values(s) else return methods(s) end
end
