-- pipeline: map, filter, fold, zip, curry and compose on lists and on lazy streams.
-- Stresses: closures that call closures, upvalues, functions created in hot loops, polymorphic calls.
-- small: 20
local n = tonumber(arg and arg[1]) or 90000

local function map(f, list)
  local out = {}
  for i = 1, #list do out[i] = f(list[i]) end
  return out
end

local function filter(p, list)
  local out = {}
  for i = 1, #list do
    if p(list[i]) then out[#out + 1] = list[i] end
  end
  return out
end

local function fold(f, start, list)
  local value = start
  for i = 1, #list do value = f(value, list[i]) end
  return value
end

local function zip_with(f, a, b)
  local out = {}
  for i = 1, math.min(#a, #b) do out[i] = f(a[i], b[i]) end
  return out
end

local function compose(f, g)
  return function(x) return f(g(x)) end
end

local function curry(f)
  return function(a)
    return function(b) return f(a, b) end
  end
end

local add = curry(function(a, b) return a + b end)
local multiply = curry(function(a, b) return a * b end)
local modulo = curry(function(m, x) return x % m end)

-- Lazy streams: a stream is a function that returns its next value, or nil.
local function range(from, to)
  local at = from - 1
  return function()
    if at < to then
      at = at + 1
      return at
    end
  end
end

local function smap(f, stream)
  return function()
    local v = stream()
    if v ~= nil then return f(v) end
  end
end

local function sfilter(p, stream)
  return function()
    while true do
      local v = stream()
      if v == nil or p(v) then return v end
    end
  end
end

local function take(count, stream)
  return function()
    if count > 0 then
      count = count - 1
      return stream()
    end
  end
end

local function sum(stream)
  local total = 0
  for v in stream do total = total + v end
  return total
end

local function counter()
  local count = 0
  return function(step)
    count = count + step
    return count
  end, function() return count end
end

local base = {}
for i = 1, 100 do base[i] = i * 37 % 101 end

local check = 0
local bump, read = counter()
for round = 1, n do
  local f = compose(add(round % 7), compose(multiply(3), modulo(50)))
  local small = filter(function(x) return x % 3 ~= round % 3 end, map(f, base))
  local paired = zip_with(function(a, b) return a * b % 1009 end, small, base)
  local total = fold(function(a, b) return (a * 31 + b) % 65521 end, round, paired)
  local odd = sfilter(function(x) return x % 2 == 1 end, range(round, round + 200))
  total = total + sum(take(60, smap(add(total % 13), odd)))
  bump(total % 5)
  check = (check * 3 + total) % 1000003
end
print(string.format("check %d count %d", check, read()))
