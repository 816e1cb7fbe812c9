-- `..` that a builtin does: as the only one, as the last one, in the middle of a chain, after a metamethod in Lua; an error.
local calls = 0
local by_builtin = setmetatable({}, { __concat = rawequal })
local text = setmetatable({}, { __concat = function(a, b) calls = calls + 1 return "<" .. (type(a) == "table" and "t" or a) .. (type(b) == "table" and "t" or b) .. ">" end })
local object = setmetatable({}, { __concat = function(a, b) calls = calls + 1 return by_builtin end })

local function single(n)
  local same, other = 0, 0
  for i = 1, n do
    if by_builtin .. i == false then other = other + 1 end
    if by_builtin .. by_builtin == true then same = same + 1 end
    if (i .. by_builtin) == false then other = other + 1 end
  end
  return same, other
end
print(single(200))

-- The builtin gets what is joined already, and is the last call.
local list = setmetatable({}, { __concat = function() end })
local seen = setmetatable({}, { __concat = select })
local function chain(n)
  local last
  for i = 1, n do last = 1 .. seen end
  return last
end
local ok, what = pcall(chain, 200)
print(ok, what == seen)

local keep = setmetatable({}, { __concat = rawset })
local function joined(n)
  for i = 1, n do
    local t = setmetatable({}, { __concat = math.max })
    local ok, why = pcall(function() return t .. "a" .. i end)
    if i == n then print(ok, why) end
  end
end
joined(200)

-- More to concatenate on the left of it.
local function middle(n)
  local ok, why
  for i = 1, n do
    ok, why = pcall(function() return "x" .. (i % 2) .. by_builtin .. i .. "y" end)
  end
  return ok, why
end
print(middle(200))
local number = setmetatable({}, { __concat = tostring })
local type_of = setmetatable({}, { __concat = type })
local function left(n)
  local s = 0
  for i = 1, n do
    local t = "x" .. i .. type_of .. i
    s = s + #t
  end
  return s, "x" .. 1 .. type_of .. 2
end
print(left(200))

-- After a metamethod that is a function in Lua: what that returns is concatenated by a builtin.
local function behind(n)
  local s = 0
  for i = 1, n do
    local t = "a" .. "b" .. type_of .. text .. i
    s = s + #t
    if (i .. object .. i) == false then s = s + 1 end
  end
  return s, calls
end
print(behind(200))

-- A builtin that is stitched around.
local generator = coroutine.wrap(function() local n = 0 while true do n = n + 1 coroutine.yield("g" .. n) end end)
local generated = setmetatable({}, { __concat = generator, __index = coroutine.wrap(function() while true do coroutine.yield(5) end end) })
local function stitched(n)
  local s, t = 0, nil
  for i = 1, n do
    t = generated .. i
    s = s + #t + generated.x
  end
  return s, t
end
print(stitched(200))
