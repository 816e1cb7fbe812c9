-- linkedlist: nodes in an arena, linked by pointers.
-- Stresses: pointers in structs.
-- small: 10
local n = tonumber(arg and arg[1]) or 30000
local ffi = require("ffi")
ffi.cdef[[ typedef struct node { struct node *next; int32_t value; } node; ]]
local count = 10000
local nodes = ffi.new("node[?]", count)
for i = 0, count - 1 do
  nodes[i].value = i
  nodes[i].next = i < count - 1 and nodes + i + 1 or nil
end
local sum = 0
for _ = 1, n do
  local p = nodes + 0
  while p ~= nil do
    sum = sum + p.value
    p = p.next
  end
end
print(sum)
