-- A call whose callees are closures of two prototypes in turns, made anew for each round.
local function count(fun, n)
  local found, i = 0, 1
  while i <= n do
    if fun(i) then found = found + 1 end
    i = i + 1
  end
  return found
end
local function both(fun, n)
  return count(fun, n), count(function(x) return not fun(x) end, n)
end
local yes, no = 0, 0
for r = 1, 300 do
  local a, b = both(function(x) return x % 3 == r % 2 end, 200)
  yes, no = yes + a, no + b
end
print(yes, no)
