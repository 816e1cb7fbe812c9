-- binarytrees: many short-lived and one long-lived binary trees.
-- Stresses: allocation of small tables, the collector, recursion.
-- small: 5
local n = tonumber(arg and arg[1]) or 17

local function build(depth)
  if depth == 0 then return {} end
  return { build(depth - 1), build(depth - 1) }
end

local function count(tree)
  if not tree[1] then return 1 end
  return 1 + count(tree[1]) + count(tree[2])
end

local deepest = math.max(n, 6)
print(string.format("stretch tree of depth %d: %d nodes", deepest + 1, count(build(deepest + 1))))

local kept = build(deepest)
for depth = 4, deepest, 4 do
  local rounds, nodes = 2 ^ (deepest - depth + 4), 0
  for _ = 1, rounds do nodes = nodes + count(build(depth)) end
  print(string.format("%d trees of depth %d: %d nodes", rounds, depth, nodes))
end
print(string.format("kept tree of depth %d: %d nodes", deepest, count(kept)))
