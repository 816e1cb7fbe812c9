-- Tables that the collector traverses in slices, changed by compiled code while it does.
local N = 5000
local function object(n) return { n = n } end

-- An array whose slots are overwritten.
local array = {}
for i = 1, N do array[i] = object(i) end
local function overwrite(rounds)
  local k = 1
  for i = 1, rounds do
    k = (k * 31 + 7) % N + 1
    array[k] = object(-k)
  end
end
overwrite(20000)
local sum, negative = 0, 0
for i = 1, N do sum = sum + array[i].n; if array[i].n < 0 then negative = negative + 1 end end
print("array", sum, negative)

-- A hash part: keys are overwritten, removed, inserted, so that entries move.
local hash = {}
local function key(k) return "key " .. k end
for i = 1, N do hash[key(i)] = object(i) end
local function change(rounds)
  local k = 1
  for i = 1, rounds do
    k = (k * 37 + 11) % (2 * N) + 1
    if i % 5 == 0 then hash[key(k)] = nil else hash[key(k)] = object(k) end
  end
end
change(20000)
local count, total = 0, 0
for k, v in pairs(hash) do
  count = count + 1
  total = total + v.n
  assert(k == key(v.n))
end
print("hash", count, total)

-- Objects as keys and as values, in a table that grows.
local set, list = {}, {}
local function grow(n)
  for i = 1, n do
    local o = object(i)
    set[o] = i
    list[#list + 1] = o
  end
end
grow(N)
local matches = 0
for i, o in ipairs(list) do if set[o] == i and o.n == i then matches = matches + 1 end end
print("set", matches)

-- Constant keys of a large table, and its metatable.
local made = setmetatable({}, { __index = function(_, k) return "none " .. k end })
for i = 1, N do made[i] = object(i) end
local function fields(rounds)
  for i = 1, rounds do
    made.first = object(i)
    made.last = object(-i)
    if i % 1000 == 0 then setmetatable(made, { __index = function(_, k) return "none of " .. i .. " " .. k end }) end
  end
end
fields(20000)
collectgarbage()
print("fields", made.first.n, made.last.n, made.missing, made[N].n)
