-- Closures made in loops: counters that share a variable, functions composed of functions, iterators, callbacks that wait in a queue.
local n = tonumber(arg[1])

local function counter(from)
  local count = from
  return function() count = count + 1; return count end, function() return count end
end

local function compose(f, g) return function(x) return f(g(x)) end end

local function range(from, to)
  local at = from - 1
  return function()
    if at < to then at = at + 1; return at end
  end
end

local function filter(keep, iterator)
  return function()
    local value = iterator()
    while value and not keep(value) do value = iterator() end
    return value
  end
end

local total = 0
for i = 1, n do
  local up, get = counter(i)
  for _ = 1, 3 do up() end

  local f = function(x) return x end
  for k = 1, 5 do f = compose(function(x) return (x + k) % 1009 end, f) end

  local found = 0
  for value in filter(function(x) return x % 3 == i % 3 end, range(1, 20)) do found = found + value end

  local queue, first, last = {}, 1, 0
  local function later(action) last = last + 1; queue[last] = action end
  for k = 1, 8 do
    later(function()
      found = found + k
      if k % 4 == 0 then later(function() found = found - i % 7 end) end
    end)
  end
  while first <= last do queue[first](); queue[first] = nil; first = first + 1 end

  total = (total + get() + f(i) + found) % 1000003
end
print(total)
