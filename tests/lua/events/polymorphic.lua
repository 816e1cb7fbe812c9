-- The number of traces is bounded by the code, not by the number of objects, classes, closures or iterations: each program makes `n` of
-- them, for twice as many it gets hardly more traces.
local counters = require("jit.util").counters
jit.opt.start("hotloop=20", "hotexit=5")

local function class_of(methods, parent)
  local class = methods or {}
  class.__index = class
  return parent and setmetatable(class, parent) or class
end
-- Keys in front, so that hash parts differ in size and order.
local function padded(n, t)
  for i = 1, n % 7 do t["pad" .. i * n] = i end
  return t
end

local programs = {}
function programs.metatable_per_object(n)
  local C = { get = function(self) return self.x end }
  local list = {}
  for i = 1, n do list[i] = setmetatable({ x = i }, { __index = C }) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i]:get() end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.class_per_object(n)
  local function get(self) return self.x end
  local list = {}
  for i = 1, n do list[i] = setmetatable({ x = i }, class_of(padded(i, { get = get }))) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i]:get() end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.inherited_methods(n)
  local base = class_of { get = function(self) return self.x end }
  local list = {}
  for i = 1, n do list[i] = setmetatable({ x = i }, class_of(padded(i, {}), base)) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i]:get() end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.method_per_class(n)
  local list = {}
  for i = 1, n do
    local get = assert(loadstring("return function(self) return self.x + " .. i .. " end"))()
    list[i] = setmetatable({ x = 0 }, class_of { get = get })
  end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i]:get() end end
    return s, 40 * n * (n + 1) / 2
  end
end
-- Keys that are not read have no type that matters, and neither have values.
function programs.unread_keys(n)
  local tables = {}
  for i = 1, n do
    local keys = { i, "s" .. i, i + 0.5, true, print, {} }
    local t = {}
    for j = 0, 5 do t[keys[(i + j) % 6 + 1]] = j % 3 == 0 and {} or j % 3 == 1 and "s" or j end
    tables[i] = t
  end
  return function()
    local s = 0
    for _ = 1, 20 do
      for i = 1, n do
        for _ in pairs(tables[i]) do s = s + 1 end
      end
    end
    return s, 20 * n * 6
  end
end
function programs.closures_as_methods(n)
  local function object(x) return { get = function() return x end } end
  local list = {}
  for i = 1, n do list[i] = object(i) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i].get() end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.methods_replaced_while_hot(n)
  local C = class_of { get = function(self) return self.x end }
  local o = setmetatable({ x = 1 }, C)
  local function getter(i) return function(self) return self.x * i end end
  return function()
    local s, want = 0, 0
    for i = 1, n do
      C.get = getter(i)
      for _ = 1, 100 do s = s + o:get() end
      want = want + 100 * i
    end
    return s, want
  end
end
function programs.records_of_many_shapes(n)
  local list = {}
  for i = 1, n do
    list[i] = padded(i, {})
    list[i].x = i
  end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i].x end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.stores_of_many_shapes(n)
  local list = {}
  for i = 1, n do
    list[i] = padded(i, {})
    list[i].x = 0
  end
  return function()
    for _ = 1, 40 do for i = 1, n do list[i].x = list[i].x + 1 end end
    local s = 0
    for i = 1, n do s = s + list[i].x end
    return s % 40, 0
  end
end
function programs.new_keys_in_many_shapes(n)
  return function()
    local s = 0
    for _ = 1, 40 do
      for i = 1, n do
        local t = padded(i, setmetatable({}, { __index = { y = 2 } }))
        t.x = i
        s = s + t.x * t.y
      end
    end
    return s, 40 * n * (n + 1)
  end
end
function programs.functions_in_a_table(n)
  local list = {}
  for i = 1, n do list[i] = assert(loadstring("return function(x) return x + " .. i .. " end"))() end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + list[i](0) end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.comparisons_of_classes(n)
  local function lt(a, b) return a.x < b.x end
  local list = {}
  for i = 1, n do list[i] = setmetatable({ x = i }, { __lt = lt }) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 2, n do if list[1] < list[i] then s = s + 1 end end end
    return s, 40 * (n - 1)
  end
end
function programs.mixed_arrays(n)
  local list = {}
  for i = 1, n do list[i] = ({ i, tostring(i), i + 0.5, { i }, true })[i % 5 + 1] end
  return function()
    local s = 0
    for _ = 1, 40 do
      for i = 1, n do
        local v = list[i]
        if type(v) == "number" then s = s + 1 elseif type(v) == "string" then s = s + 2 elseif type(v) == "table" then s = s + 3 end
      end
    end
    return s % 1, 0
  end
end
function programs.comparison_per_object(n)
  local function pair(i)
    local mt = { __eq = function(a, b) return a.x == b.x end, __lt = function(a, b) return a.x < b.x end }
    return { setmetatable({ x = i }, mt), setmetatable({ x = i }, mt) }
  end
  local list = {}
  for i = 1, n do list[i] = pair(i) end
  return function()
    local s = 0
    for _ = 1, 40 do
      for i = 1, n do
        local a, b = list[i][1], list[i][2]
        if a == b and not (a < b) then s = s + 1 end
      end
    end
    return s, 40 * n
  end
end
function programs.environment_per_closure(n)
  local function make()
    return function()
      local s = 0
      for i = 1, 40 do s = s + i * step + offset end
      return s
    end
  end
  local list = {}
  for i = 1, n do list[i] = setfenv(make(), { step = i, offset = 1 }) end
  return function()
    local s = 0
    for _ = 1, 4 do for i = 1, n do s = s + list[i]() end end
    return s, 4 * (820 * n * (n + 1) / 2 + 40 * n)
  end
end
function programs.the_same_text_again(n)
  local text = "local s = 0 for i = 1, 40 do s = s + i * step + offset end return s"
  return function()
    local s = 0
    for _ = 1, 4 do for i = 1, n do s = s + load(text, "=text", "t", { step = i, offset = 1 })() end end
    return s, 4 * (820 * n * (n + 1) / 2 + 40 * n)
  end
end

function programs.numbers_of_arguments(n)
  local args = {}
  for i = 1, n do args[i] = i end
  local function last(...)
    local s = 0
    for i = 1, 3 do s = s + i end
    return s + select(-1, ...)
  end
  return function()
    local s = 0
    for _ = 1, 20 do for i = 1, n do s = s + last(unpack(args, 1, i)) end end
    return s, 20 * (n * (n + 1) / 2 + 6 * n)
  end
end

-- The callers are interpreted, so that only the loop in the function is compiled: for all numbers of arguments at once.
function programs.first_arguments(n)
  local args = {}
  for i = 1, n do args[i] = i end
  local function first(...)
    local s = 0
    for i = 1, 30 do
      local a, b = ...
      s = s + a + b
    end
    return s
  end
  local function run()
    local s = 0
    for _ = 1, 9 do for i = 2, n do s = s + first(unpack(args, 1, i)) end end
    return s, 9 * 90 * (n - 1)
  end
  jit.off(run)
  return run
end
function programs.selected_arguments(n)
  local args = {}
  for i = 1, n do args[i] = i end
  local function sum(...)
    local s = 0
    for i = 1, select("#", ...) do s = s + (select(i, ...)) end
    return s
  end
  local function run()
    local s = 0
    for _ = 1, 9 do for i = 2, n do s = s + sum(unpack(args, 1, i)) end end
    return s, 9 * (n * (n + 1) * (n + 2) / 6 - 1)
  end
  jit.off(run)
  return run
end
function programs.formats_as_data(n)
  local formats = {}
  for i = 1, n do formats[i] = "%d" .. ("x"):rep(i) end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + #formats[i]:format(7) - 1 end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.texts_to_find(n)
  local texts = {}
  for i = 1, n do texts[i] = "<" .. i .. ">" end
  local text = table.concat(texts)
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + (text:find(texts[i]) and i or 0) end end
    return s, 40 * n * (n + 1) / 2
  end
end
function programs.numbers_before_a_list(n)
  local function make(i, ...) return { [5] = i, ... } end
  return function()
    local s = 0
    for _ = 1, 40 do for i = 1, n do s = s + make(0, 1, 2, 3, 4, i)[5] end end
    return s, 40 * n * (n + 1) / 2
  end
end
local function traces_of(make, n)
  local run = make(n)
  jit.flush()
  local before = counters().closed
  for _ = 1, 10 do
    local got, want = run()
    assert(got == want, got)
  end
  return counters().closed - before
end
jit.off(traces_of)
local OWN_CODE = { method_per_class = true, functions_in_a_table = true }
local ONE_LOOP = { unread_keys = true, first_arguments = true, selected_arguments = true, formats_as_data = true, texts_to_find = true,
  numbers_before_a_list = true }
local names = {}
for name in pairs(programs) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local some, more, many = traces_of(programs[name], 12), traces_of(programs[name], 40), traces_of(programs[name], 80)
  -- Each function may have a trace of its own.
  if OWN_CODE[name] then more, many = more - 40, many - 80 end
  if arg[1] then print(name, some, more, many) end
  if ONE_LOOP[name] then assert(many <= 3, name .. ": " .. many) end
  assert(more < 40 and many <= more + 6, name .. ": " .. some .. " " .. more .. " " .. many)
end
-- Each of some functions that a loop is given is inlined into a loop of its own; of many functions, some. Each may have a trace of its own.
local function functions_given_to_one_loop(n)
  local function each(t, f)
    for i = 1, #t do f(t[i]) end
  end
  local fs, list = {}, {}
  for i = 1, 40 do list[i] = { x = 0 } end
  for i = 1, n do fs[i] = assert(loadstring("return function(e) e.x = e.x + " .. i .. " end"))() end
  return function()
    list[1].x = 0
    for _ = 1, 10 do for i = 1, n do each(list, fs[i]) end end
    return list[1].x, 10 * n * (n + 1) / 2
  end
end
local loops = 0
jit.attach(function(what, trace)
  local info = what == "stop" and require("jit.util").traceinfo(trace)
  if info and info.linktype == "loop" then loops = loops + 1 end
end, "trace")
local all = traces_of(functions_given_to_one_loop, 200)
assert(loops >= 60 and loops <= 70 and all <= 200 + loops + 10, loops .. " " .. all)
print "ok"
