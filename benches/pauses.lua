-- How long a program stands still for the collector, with some 200 MB of live objects of one shape that it replaces all the time.
--
--     perilune benches/pauses.lua [shape ...]
--
-- Prints a row of a table in Markdown for each shape. The figures are wall time: on a busy machine they include the time of other programs.
local misc = require "misc"
local random = math.random

local function repeated(n, f) for i = 1, n do f(i) end end
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function deep(depth, f)
  if depth == 0 then return f() end
  local x = { depth }
  return deep(depth - 1, f) + #x
end

-- Each function makes the live objects and returns them, and what replaces one of them.
local shapes = {
  objects = function()
    local all = {}
    local function object(i) return { id = i, name = "object " .. i, list = { i, i + 1 } } end
    repeated(800000, function(i) all[i] = object(i) end)
    return all, function(i)
      local o = all[random(#all)]
      if i % 4 == 0 then all[random(#all)] = object(i) else o.list, o.other = { i }, all[random(#all)].list end
    end
  end,
  strings = function()
    local all = {}
    local function replace(i) all[random(3000000)] = "string number " .. i end
    repeated(3000000, replace)
    return all, replace
  end,
  hash = function()
    local all = {}
    local function replace(i) all["key " .. random(1000000)] = { i } end
    repeated(2000000, replace)
    return all, replace
  end,
  closures = function()
    local all = {}
    local function replace(i)
      local x = { i }
      all[random(700000)] = function() return x, i end
    end
    repeated(2000000, replace)
    return all, replace
  end,
  tree = function()
    local root = tree(20)
    return root, function(i) if i % 20000 == 0 then root[1][2][1][2], root[2][1][1] = tree(14), tree(15) end end
  end,
  list = function()
    local first, last
    local function add(i)
      local new = { v = i }
      if last then last.next = new else first = new end
      last = new
    end
    repeated(3000000, add)
    return nil, function(i) add(i); first = first.next end
  end,
  numbers = function()
    local all = {}
    repeated(25000000, function(i) all[i] = i + 0.5 end)
    return all, function(i) all[random(#all)] = i + 0.5; return { i } end
  end,
  coroutines = function()
    local all = {}
    local function replace(i)
      local k = random(50000)
      if not all[k] or i % 8 == 0 then
        all[k] = coroutine.create(function(a) while true do a = coroutine.yield({ a }) end end)
      end
      return coroutine.resume(all[k], i)
    end
    repeated(300000, replace)
    return all, replace
  end,
  userdata = function()
    local all = {}
    local function replace() all[random(100000)] = newproxy(true) end
    repeated(300000, replace)
    return all, replace
  end,
  ["weak keys"] = function()
    local all, weak = {}, setmetatable({}, { __mode = "k" })
    local function replace(i)
      local o = { i }
      all[random(500000)], weak[o] = o, i
    end
    repeated(1000000, replace)
    return all, replace
  end,
}

local names = { ... }
if #names == 0 then
  for name in pairs(shapes) do names[#names + 1] = name end
  table.sort(names)
end
print("| shape | live MB | cycles | stops | ms in all | longest, ms | longer than 1 ms |\n|---|---|---|---|---|---|---|")
for _, name in ipairs(names) do
  local make = assert(shapes[name], "no such shape: " .. name)
  -- A state of its own for each, since the longest stop is that of the state.
  if #names > 1 then
    local file = assert(io.popen(("%s %s '%s'"):format(arg[-1], arg[0], name)))
    io.write((file:read("*a"):gsub("^.-\n.-\n", "")))
    file:close()
  else
    local live, replace = make()
    repeated(3000000, replace)
    local p, over = misc.getpauses(), 0
    for i = 12, #p.lengths do over = over + p.lengths[i] end
    print(("| %s | %d | %d | %d | %.0f | %.2f | %d |"):format(name, collectgarbage("count") / 1024, misc.getmetrics().gc_steps_pause, p.count,
      p.total / 1000, p.longest / 1000, over))
    return live -- The objects live until here.
  end
end
