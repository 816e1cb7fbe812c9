-- Values that only the stacks of coroutines refer to, or variables there that closures share, live through collections that go on in steps
-- while the coroutines run, wait, are changed from outside, and die.
local N, ROUNDS = 60, 400
local seed = 42
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n + 1
end

local function body(id)
  local box, shared = { id }, { id * 2 }
  local function set(v) shared = { v } end
  local function get() return shared[1] end
  local n = 0
  while true do
    local arg = coroutine.yield(set, get, box[1])
    n = n + 1
    box = { box[1] + 1 }
    if arg == "last" then return "done", box[1], shared[1] end
  end
end

local live = {}
local function start(id)
  local co = coroutine.create(body)
  local ok, set, get, value = coroutine.resume(co, id)
  assert(ok and value == id and get() == id * 2)
  live[id] = { co = co, set = set, get = get, box = id, shared = id * 2 }
end
for id = 1, N do start(id) end

local dead = {}
for round = 1, ROUNDS do
  collectgarbage("step", random(20) - 1)
  for _ = 1, 10 do
    local id = random(N)
    local c = live[id]
    local what = random(6)
    if what <= 3 then
      local ok, set, get, value = coroutine.resume(c.co)
      c.box = c.box + 1
      assert(ok and set == c.set and get == c.get and value == c.box)
    elseif what == 4 then
      c.shared = round
      c.set(round)
    elseif what == 5 then
      -- The local variable `box` of a coroutine that waits.
      c.box = 1000 * round
      assert(debug.setlocal(c.co, 1, 2, { c.box }) == "box")
    elseif random(2) == 1 then
      local ok, done, box, shared = coroutine.resume(c.co, "last")
      assert(ok and done == "done" and box == c.box + 1 and shared == c.shared)
      dead[#dead + 1] = c
      start(id)
    else
      -- It is garbage, but its variable lives in the closures.
      c.co = nil
      dead[#dead + 1] = c
      start(id)
    end
    assert(live[id].get() == live[id].shared)
  end
  for i = math.max(1, #dead - 5), #dead do
    local c = dead[i]
    assert(c.get() == c.shared)
    c.shared = c.shared + 1
    c.set(c.shared)
  end
end
collectgarbage()
for id, c in ipairs(live) do
  local ok, _, _, value = coroutine.resume(c.co)
  assert(ok and value == c.box + 1 and c.get() == c.shared, id)
end
for _, c in ipairs(dead) do assert(c.get() == c.shared) end
print(N, #dead > 100)

-- Finalizers of userdata that become garbage in any order, while others are made.
local finalized, made = 0, 0
local function make(keeps)
  local u = newproxy(true)
  made = made + 1
  getmetatable(u).__gc = function() finalized = finalized + 1; assert(keeps[1] == made or keeps[1] < made) end
  return u
end
local kept = {}
for i = 1, 3000 do
  kept[random(100)] = make({ i })
  if i % 7 == 0 then collectgarbage("step", random(10)) end
end
kept = nil
for _ = 1, 3 do collectgarbage() end
print(made, finalized)
