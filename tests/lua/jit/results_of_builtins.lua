-- What a builtin writes in an iteration is of another type than in the iteration before: an exit behind the call, and the trace that
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

-- words, and nil behind the last one
local n = 0
for round = 1, 30 do
  for name in ("a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd"):gmatch "%S+" do
    if name == nil then error("the loop has ended") end
    n = n + #name
  end
end
print(n)

-- metamethods that are builtins: the result goes to the variable itself, which changes behind it and is alive at the end
local results = { 1, 2.5, "s", true, {}, 3, "t", false, 4.25 }
local o = setmetatable({}, {
  __index = coroutine.wrap(function() for k = 1, 1e9 do coroutine.yield(results[k % #results + 1]) end end),
  __unm = coroutine.wrap(function() for k = 1, 1e9 do coroutine.yield(results[k * k % #results + 1]) end end),
  __concat = coroutine.wrap(function() for k = 1, 1e9 do coroutine.yield(results[k * 7 % #results + 1]) end end),
})
local function each(f)
  local sum, words, others = 0, 0, 0
  local v = 0
  for k = 1, 400 do
    v = f(v)
    local ty = type(v)
    if ty == "number" then
      sum = sum + v
      v = v + 0.5
    elseif ty == "string" then
      words = words + #v
      v = v .. "!"
    else
      others = others + 1
      v = others
    end
  end
  return sum, words, others, v
end
print(each(function(v) v = o.key; return v end))
print(each(function(v) v = -o; return v end))
print(each(function(v) v = o .. "x"; return v end))
do
  local sum, words, others = 0, 0, 0
  local v = 0
  for k = 1, 400 do
    v = o.key
    if v == true then
      others = others + 1
      v = others
    elseif v == "s" then
      words = words + 1
      v = v .. "!"
    elseif type(v) == "number" then
      sum = sum + v
      v = v + 0.5
    end
  end
  print(sum, words, others, v)
  for k = 1, 400 do
    v = -o
    if type(v) == "number" then sum = sum + v v = v + 0.5 else v = k end
  end
  print(sum, words, others, v)
  for k = 1, 400 do
    v = o .. k
    if type(v) == "number" then sum = sum + v v = v + 0.5 else v = k end
  end
  print(sum, words, others, v)
end
-- several results, and an open list of them
local s, q = 0, 0
for k = 1, 300 do
  local a, b, c = select(k % 4 + 1, 1, "x", 2.5, k)
  s = s + (tonumber(a) or 100) + (tonumber(b) or 200) + (tonumber(c) or 300)
  local p = { coroutine.resume(coroutine.create(function() return list[k % 7 + 1], list[k % 5 + 1] end)) }
  q = q + (tonumber(p[2]) or 10) + (tonumber(p[3]) or 20)
end
print(s, q)
