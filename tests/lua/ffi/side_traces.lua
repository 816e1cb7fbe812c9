-- What an exit would make for its side trace alone is not allocated.
local ffi = require "ffi"
local vec = ffi.typeof("struct { double x, y; }")

local function boxes(n)
  local sum = 0
  for i = 1, n do
    local k = i * 3ULL
    if i % 2 == 0 then sum = sum + 1 else sum = sum + 2 end
    if k % 4 == 0 then sum = sum + 1 end
  end
  return sum
end
local function structs(n)
  local sum = 0
  for i = 1, n do
    local p = vec(i, 2)
    if i % 2 == 0 then p.y = 3 else p = vec(p.y, p.x) end
    sum = sum + p.x - p.y
  end
  return sum
end
for _, f in ipairs { boxes, structs } do
  -- So often that the tree is compiled as one function.
  for _ = 1, 6 do f(100000) end
  collectgarbage()
  collectgarbage("stop")
  local before = collectgarbage("count")
  local sum = f(100000)
  local grown = collectgarbage("count") - before
  collectgarbage("restart")
  print(sum, not jit.status() or grown < 200 or grown)
end
