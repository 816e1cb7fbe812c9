-- math.random: the sequence after randomseed is fixed, in all three forms of the call.

local function g(v) return string.format("%.14g", v) end

for _, seed in ipairs { 42, 0, 1, -1, 0.5, 123456789, 2 ^ 31, 1e10, -7.25, "42" } do
  math.randomseed(seed)
  print(seed, g(math.random()), g(math.random()), math.random(10), math.random(6), math.random(-5, 5), math.random(1e6), math.random(0, 1))
end

-- The same seed gives the same numbers again.
math.randomseed(99)
local first = {}
for i = 1, 50 do first[i] = math.random() end
math.randomseed(99)
for i = 1, 50 do assert(math.random() == first[i]) end
math.randomseed(100)
assert(math.random() ~= first[1])

-- Ranges hold, everything is hit.
math.randomseed(7)
local counts = {}
for _ = 1, 6000 do
  local v = math.random(6)
  assert(v >= 1 and v <= 6 and v == math.floor(v))
  counts[v] = (counts[v] or 0) + 1
end
print(unpack(counts))
for _ = 1, 1000 do
  local v = math.random()
  assert(v >= 0 and v < 1)
  v = math.random(-3, 3)
  assert(v >= -3 and v <= 3 and v == math.floor(v))
  v = math.random(5, 5)
  assert(v == 5)
  v = math.random(2 ^ 40)
  assert(v >= 1 and v <= 2 ^ 40 and v == math.floor(v))
end
print(math.random(1), math.random(3, 3), math.random(0, 0), math.random("5", "5"))

-- A long run, summed.
math.randomseed(2024)
local sum, ints = 0, 0
for _ = 1, 10000 do
  sum = sum + math.random()
  ints = (ints * 31 + math.random(100)) % 1000003
end
print(string.format("%.9f", sum), ints)

-- Shuffling with it.
math.randomseed(5)
local deck = {}
for i = 1, 20 do deck[i] = i end
for i = #deck, 2, -1 do
  local j = math.random(i)
  deck[i], deck[j] = deck[j], deck[i]
end
print(table.concat(deck, " "))
math.randomseed(11)
print(math.random(10), math.random(10), math.random(10), g(math.random()), math.random(100, 200), math.random(-100, -50), math.random(2.9))
print(select("#", math.randomseed(1)), pcall(math.random, 1, 2, 3))
print("ok")
