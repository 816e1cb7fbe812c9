-- Upvalues that are joined, and upvalues of builtins that are set, while traces rely on what they were.
local N = 20000

-- Two upvalues of one function become one variable.
local function counter()
  local x, y = 0, 0
  return function(n)
    for _ = 1, n do
      x = x + 1
      y = y + 2
    end
    return x, y
  end
end
local apart, joined = counter(), counter()
print(apart(N))
print(joined(N))
debug.upvaluejoin(joined, 1, joined, 2)
print(joined(N))
print(apart(N))
local again = counter()
debug.upvaluejoin(again, 2, again, 1)
print(again(N))

-- `pairs` iterates by its upvalue.
local t = {1, 2, 3}
local function sum(n)
  local s = 0
  for _ = 1, n do
    for _, v in pairs(t) do s = s + v end
  end
  return s
end
print(sum(N))
local name, next_entry = debug.getupvalue(pairs, 1)
debug.setupvalue(pairs, 1, function(_, k) if not k then return 1, 100 end end)
print(sum(N))
debug.setupvalue(pairs, 1, next_entry)
print(sum(N), next_entry == next)

-- The names of types are upvalues of `type`.
local function count(n, v)
  local s = 0
  for _ = 1, n do
    if type(v) == "TABLE" then s = s + 1 end
  end
  return s
end
local function rename(from, to)
  for i = 1, 100 do
    local found, v = debug.getupvalue(type, i)
    if not found then return end
    if v == from then debug.setupvalue(type, i, to) end
  end
end
print(count(N, t))
rename("table", "TABLE")
print(count(N, t))
rename("TABLE", "table")
print(count(N, t), type(t))

-- A wrapped coroutine is an upvalue of the function that resumes it.
local function steps(by)
  return function()
    while true do coroutine.yield(by) end
  end
end
local one, hundred = coroutine.wrap(steps(1)), coroutine.wrap(steps(100))
local function total(n)
  local s = 0
  for _ = 1, n do s = s + one() end
  return s
end
print(total(N))
local _, other = debug.getupvalue(hundred, 1)
debug.setupvalue(one, 1, other)
print(total(N))
