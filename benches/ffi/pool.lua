-- pool: a binary tree whose nodes are in an array, with a list of free ones.
-- Stresses: structs addressed by index, stores of ints, recursion-free search.
-- small: 1000
local n = tonumber(arg and arg[1]) or 2500000
local ffi = require("ffi")
ffi.cdef[[
  typedef struct { int32_t left, right, key, count; } tree_node;
  typedef struct { int32_t free, used, root; tree_node nodes[4096]; } tree_pool;
]]
local pool = ffi.new("tree_pool")
local function reset(p)
  for i = 1, 4094 do p.nodes[i].left = i + 1 end
  p.free, p.used, p.root = 1, 0, 0
end
local function take(p, key)
  local i = p.free
  local node = p.nodes[i]
  p.free = node.left
  p.used = p.used + 1
  node.left, node.right, node.key, node.count = 0, 0, key, 1
  return i
end
local function insert(p, key)
  if p.root == 0 then p.root = take(p, key) return end
  local at = p.root
  while true do
    local node = p.nodes[at]
    if key == node.key then node.count = node.count + 1 return end
    if key < node.key then
      if node.left == 0 then node.left = take(p, key) return end
      at = node.left
    else
      if node.right == 0 then node.right = take(p, key) return end
      at = node.right
    end
  end
end
local seed = 7
reset(pool)
local sum = 0
for i = 1, n do
  seed = (seed * 16807) % 2147483647
  insert(pool, seed % 5000)
  if pool.used > 3000 then
    sum = sum + pool.nodes[pool.root].count
    reset(pool)
  end
end
print(sum, pool.used)
