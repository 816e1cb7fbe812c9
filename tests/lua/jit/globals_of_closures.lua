-- Closures of one function, made anew for each call of another, that read globals in a loop: one trace is for all of them.
local function make()
  return function(a, b)
    local s = 0
    for i = 1, #a do
      s = math.max(s + a[i], b[i])
    end
    return s
  end
end
local a, b, sum = {}, {}, 0
for i = 1, 50 do a[i], b[i] = i, i * 2 end
for _ = 1, 12 do
  local f = make()
  for _ = 1, 60 do sum = sum + f(a, b) end
end
print(sum)

-- The same with an upvalue, which the first closure has as a constant.
local function counter(step)
  return function(n)
    local s = 0
    for i = 1, n do s = s + i * step end
    return s
  end
end
for round = 1, 12 do
  local f = counter(round)
  for _ = 1, 60 do sum = sum + f(30) end
end
print(sum)
