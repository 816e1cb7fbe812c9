-- What a builtin writes in an iteration is of another type than in the iteration before: an exit after the call, and the trace that
-- begins there, must not take what the slot had then for what it has now.
local function count(f, ...)
  local a, b, c = 0, 0, 0
  for round = 1, 60 do
    for k, v in f(...) do
      if type(k) == "number" then a = a + 1 elseif type(k) == "string" then b = b + 1 else c = c + 1 end
    end
  end
  return a, b, c
end
local t = { 1, 2, 3, 4, 5, x = 1, y = 2, [true] = 3, [2.5] = 1 }
print(count(function() return next, t end))
local list = { "a", 1, "b", 2.5, true, "c", 7 }
local i = 0
local it = setmetatable({}, { __call = function() i = i + 1 return list[i % 8] end })
print(count(function() return it end))
local chain = { [1] = "x", x = 5, [5] = "y", y = true, [true] = 2.5, [2.5] = "z" }
print(count(function() return rawget, chain, 1 end))
print(count(function() return coroutine.wrap(function() for _, v in ipairs(list) do coroutine.yield(v) end end) end))

-- words, and nil after the last one
local n = 0
for round = 1, 30 do
  for name in ("a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd"):gmatch "%S+" do
    if name == nil then error("the loop has ended") end
    n = n + #name
  end
end
print(n)
