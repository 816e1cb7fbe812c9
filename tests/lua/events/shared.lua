-- Two paths of a loop come together again, and part once more after that: the rare path there is compiled once, for both of them.
local util = require "jit.util"
jit.off(true)

-- Runs a function, and counts the exits that share a side trace, and those that lead to the one to which most do.
local function run(f, n)
  jit.flush()
  local before = util.counters(true).shared
  local result, by_side, most = f(n), {}, 0
  for trace = 1, 100 do
    local info = util.traceinfo(trace)
    for exit = 0, info and info.nexit - 1 or -1 do
      local side = util.exitinfo(trace, exit).link
      by_side[side] = side ~= 0 and (by_side[side] or 0) + 1 or nil
      most = math.max(most, by_side[side] or 0)
    end
  end
  return result, util.counters(true).shared - before, most
end
jit.off(run)

local function together(n)
  local rare = 0
  for i = 1, n do
    local x
    if i % 2 == 1 then x = i else x = i + 1 end
    if i % 7 == 3 then rare = rare + x end
  end
  return rare
end
local rare, shared, most = run(together, 7000)
assert(rare == 1000 * 3499.5 + 500, rare)
assert(shared >= 1 and most == shared + 1, shared .. " " .. most)

-- Where the paths leave values of other types behind, each is right for itself only.
local function other_types(n)
  local rare = 0
  for i = 1, n do
    local x
    if i % 2 == 1 then x = i else x = i + 0.5 end
    if i % 7 == 3 then rare = rare + x end
  end
  return rare
end
rare, shared = run(other_types, 7000)
assert(rare == 1000 * 3499.5 + 250 and shared == 0, rare .. " " .. shared)

-- Neither is it shared where the path after it is another one.
local function other_paths(n)
  local kinds, rare = { { one = 1 }, setmetatable({}, { __index = { one = 1 } }) }, 0
  local numbers = { 1, 2 }
  for i = 1, n do
    local x
    if i % 2 == 1 then x = numbers[1] else x = numbers[2] end
    if i % 7 == 3 then rare = rare + kinds[x].one end
  end
  return rare
end
rare, shared = run(other_paths, 7000)
assert(rare == 1000 and shared == 0, rare .. " " .. shared)
print "ok"
