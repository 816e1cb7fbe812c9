-- What a chunk defines when it is loaded is a constant for compiled code until it changes; so is the environment of a hot function.
KIND_A, KIND_B, LIMIT, RATE, ON = "a", "b", 100, 0.5, true
local config = { step = 2, name = "first", parts = { 1, 2, 3 } }
local function count(kinds, n)
  local s = 0
  for i = 1, n do
    local k = kinds[i % #kinds + 1]
    if k == KIND_A then s = s + config.step elseif k == KIND_B then s = s + RATE end
    if s > LIMIT then s = s - LIMIT end
    if ON then s = s + #config.parts + #config.name end
  end
  return s
end
local kinds = { "a", "b", "c" }
print(count(kinds, 300))
-- Each changes once, and again.
KIND_A = "c" print(count(kinds, 300))
LIMIT = 7 print(count(kinds, 300))
config.step = 3 print(count(kinds, 300))
config.step = 0.25 print(count(kinds, 300))
config.name = "x" print(count(kinds, 300))
config.parts = {} print(count(kinds, 300))
config.parts = { 1 } print(count(kinds, 300))
ON = false print(count(kinds, 300))
RATE = "10" print(count(kinds, 300))
RATE = nil print((pcall(count, kinds, 300)))
RATE = 1 print(count(kinds, 300))
rawset(_G, "LIMIT", 1e9) print(count(kinds, 300))

-- A variable that a function sets is none of these; nor is what a loop of the chunk sets.
local state = {}
function start() state.tokens, TOTAL = {}, 0 end
local function add(n) for i = 1, n do state.tokens[i] = i TOTAL = TOTAL + i end return #state.tokens, TOTAL end
for i = 1, 5 do start() print(add(100 * i)) end
for i = 1, 300 do LAST = i end
local function last(n) local s = 0 for i = 1, n do s = s + LAST end return s end
print(last(300))
for i = 1, 3 do LAST = i print(last(300)) end

-- Stored to while it is in use: by what is called, in compiled code, in the loop itself.
FACTOR = 1
local function double(i) if i == 250 then FACTOR = FACTOR * 2 end end
local function product(n) local s = 0 for i = 1, n do s = s + FACTOR double(i) s = s + FACTOR end return s end
print(product(300), product(300), FACTOR)
STEP = 1
local function own(n) local s = 0 for i = 1, n do s = s + STEP if i % 100 == 0 then STEP = STEP + 1 end end return s end
print(own(300), own(300), STEP)
local key = "SIZE"
SIZE = 1
local function by_name(n) local s = 0 for i = 1, n do s = s + SIZE if i == n - 9 then _G[key] = SIZE + 1 end end return s end
print(by_name(300), by_name(300), SIZE)

-- Environments.
local function globals(n) local s = 0 for i = 1, n do s = s + WEIGHT end return s end
WEIGHT = 1
print(globals(300))
setfenv(globals, { WEIGHT = 2 }) print(globals(300))
setfenv(globals, { WEIGHT = 3 }) print(globals(300))
getfenv(globals).WEIGHT = 4 print(globals(300))
debug.setfenv(globals, setmetatable({}, { __index = function() return 5 end })) print(globals(300))
local function change(n)
  local s = 0
  for i = 1, n do
    s = s + WEIGHT
    if i == n - 9 then setfenv(1, { WEIGHT = 10, setfenv = setfenv }) end
    s = s + WEIGHT
  end
  return s
end
print(change(300), change(300))
for i = 1, 20 do
  local f = assert(loadstring "local n = ... local s = 0 for i = 1, n do s = s + W end return s")
  setfenv(f, { W = i })
  io.write(f(200), " ")
  setfenv(f, { W = -i })
  io.write(f(200), " ")
end
print()
