-- Objects that a constructor builds key by key are not made where only exits need them: a loop that makes many takes no memory.
local Class = {}
Class.__index = Class
function Class:init(x, y) self.x = x self.y = y return self end
function Class:sum() return self.x + self.y end

local makes = {}
function makes.keys(x, y)
  local o = setmetatable({}, Class)
  o.x = x
  o.y = y
  return o
end
function makes.template(x, y)
  local o = setmetatable({ class = Class }, Class)
  o.x, o.y = x, y
  return o
end
function makes.method(x, y) return setmetatable({ class = Class }, Class):init(x, y) end
function makes.many(x, y)
  local o = {}
  o.a, o.b, o.c, o.d, o.e = 1, 2, 3, 4, 5
  o.x, o.y = x, y
  o.x = o.x + o.a - 1
  return setmetatable(o, Class)
end
function makes.missing(x, y)
  local o = { x = x }
  if o.y == nil then o.y = y end
  if not o.z then o.w = 1 end
  return setmetatable(o, Class)
end
function makes.arguments(...)
  local o = setmetatable({}, Class)
  o:init(...)
  return o
end

function makes.length(x, y)
  local o = { class = Class }
  o.x, o.y = x, y
  if #o ~= 0 then o.x = nil end
  return setmetatable(o, Class)
end

-- Long exits: slots are stored on the way, but not those with new objects.
local function long(make, n)
  local s, a, b, c, d = 0, 1, 2, 3, 4
  for i = 1, n do
    local o = make(i, 1)
    local p, q, r = a + i % 3, b + i % 5, c + i % 7
    if p == n then s = s - 1 end
    if q == n then s = s - 2 end
    if r == n then s = s - p end
    if p + q == n then s = s - q end
    if q + r == n then s = s - r end
    local u, v, w = p + q, q + r, p + r
    if u == -n then s = s + u end
    if v == -n then s = s + v end
    if w == -n then s = s + w end
    if u + v == -n then s = s + d end
    s = s + o:sum() - i - 1
  end
  return s
end
local function short(make, n)
  local s = 0
  for i = 1, n do s = s + make(i, 2):sum() end
  return s
end

local ROUNDS = 2000
for name, make in pairs(makes) do
  for _, run in ipairs { short, long } do
    jit.flush()
    run(make, 200)
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    assert(run(make, ROUNDS) == (run == short and ROUNDS * (ROUNDS + 1) / 2 + 2 * ROUNDS or 0), name)
    local each = (collectgarbage "count" - before) * 1024 / ROUNDS
    collectgarbage "restart"
    assert(each < 8, ("%s: %.1f bytes for each object"):format(name, each))
  end
end
print "ok"
