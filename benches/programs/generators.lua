-- generators: coroutines as generators, filters and a round-robin of cooperating tasks.
-- Stresses: creation of coroutines, resume and yield from loops and from recursion.
-- small: 100
local n = tonumber(arg and arg[1]) or 150000

local yield, wrap = coroutine.yield, coroutine.wrap

-- Numbers from 2 on without the multiples of the primes found so far: one coroutine for each prime.
local function primes(count)
  local function from_two()
    local i = 2
    while true do
      yield(i)
      i = i + 1
    end
  end
  local function without(prime, source)
    return wrap(function()
      while true do
        local i = source()
        if i % prime ~= 0 then yield(i) end
      end
    end)
  end
  local source, last = wrap(from_two), nil
  for _ = 1, count do
    last = source()
    source = without(last, source)
  end
  return last
end

local function insert(tree, key)
  if not tree then return { key = key } end
  if key < tree.key then
    tree.left = insert(tree.left, key)
  elseif key > tree.key then
    tree.right = insert(tree.right, key)
  end
  return tree
end

local function walk(tree)
  if tree then
    walk(tree.left)
    yield(tree.key)
    walk(tree.right)
  end
end

local function in_order(tree)
  return wrap(function() walk(tree) end)
end

local seed = 11
local function random(limit)
  seed = seed * 16807 % 2147483647
  return seed % limit
end

-- Merges the keys of two trees walked side by side.
local function merged(size)
  local a, b
  for _ = 1, size do
    a = insert(a, random(10000))
    b = insert(b, random(10000))
  end
  local check, left, right = 0, in_order(a), in_order(b)
  local x, y = left(), right()
  while x or y do
    local v
    if x and (not y or x <= y) then
      v, x = x, left()
    else
      v, y = y, right()
    end
    check = (check * 7 + v) % 1000003
  end
  return check
end

local function permutations(list, size)
  if size == 1 then
    yield(list)
    return
  end
  for i = 1, size do
    list[size], list[i] = list[i], list[size]
    permutations(list, size - 1)
    list[size], list[i] = list[i], list[size]
  end
end

local function count_permutations(size)
  local list, check, count = {}, 0, 0
  for i = 1, size do list[i] = i end
  for p in wrap(function() permutations(list, size) end) do
    count = count + 1
    check = (check * 3 + p[1] * 5 + p[size]) % 1000003
  end
  return count, check
end

-- Tasks that pass values in and out through resume and yield until all are done.
local function round_robin(tasks, turns)
  local ready, check = {}, 0
  for id = 1, tasks do
    ready[id] = coroutine.create(function(start)
      local sum = start
      for turn = 1, turns + id % 5 do sum = (sum + yield(sum * id % 97) * turn) % 9973 end
      return sum
    end)
  end
  local value = 1
  while #ready > 0 do
    for i = #ready, 1, -1 do
      local ok, out = coroutine.resume(ready[i], value)
      assert(ok)
      value = (value + out) % 1009
      check = (check * 3 + value) % 1000003
      if coroutine.status(ready[i]) == "dead" then table.remove(ready, i) end
    end
  end
  return check
end

local scale = math.floor(math.sqrt(n))
local last
for _ = 1, scale do last = primes(40 + scale % 50) end
print("prime", last)
print("trees", merged(n))
print("permutations", count_permutations(n >= 10000 and 9 or 5))
print("tasks", round_robin(scale, scale * 10))
