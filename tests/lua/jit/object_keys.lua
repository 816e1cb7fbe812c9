-- Objects as keys of tables: found, missing, removed, and in tables that grow meanwhile.

local has_ffi, ffi = pcall(require, "ffi")
local function noop() end
local named = { tab = {}, fun = noop, builtin = print, thread = coroutine.create(noop), file = io.stdout, proxy = newproxy(true) }
if has_ffi then named.cdata = ffi.new("int64_t", 7) end
local order = {}
for name in pairs(named) do order[#order + 1] = name end
table.sort(order)

local places, found, missing = {}, 0, 0
for i, name in ipairs(order) do if i % 2 == 1 then places[named[name]] = i end end
for i = 1, 600 do
  local place = places[named[order[i % #order + 1]]]
  if place then found = found + place else missing = missing + 1 end
end
print(#order - (has_ffi and 1 or 0), found > 0, missing > 0)

-- A set of tables: visited nodes of a graph.
local nodes = {}
for i = 1, 120 do nodes[i] = { id = i, to = {} } end
for i = 1, 120 do for _, step in ipairs { 7, 13, 31 } do nodes[i].to[#nodes[i].to + 1] = nodes[(i * step) % 120 + 1] end end
local total = 0
for round = 1, 20 do
  local seen, queue, head = { [nodes[round]] = 0 }, { nodes[round] }, 1
  while queue[head] do
    local node = queue[head]
    head = head + 1
    for _, next_node in ipairs(node.to) do
      if not seen[next_node] then
        seen[next_node] = seen[node] + 1
        queue[#queue + 1] = next_node
      end
    end
  end
  for node, distance in pairs(seen) do total = total + distance * node.id end
end
print(total)

-- Added, changed and removed while hot.
local set, sum = {}, 0
for i = 1, 2000 do
  local node = nodes[i * 17 % 120 + 1]
  if set[node] == nil then
    set[node] = i
  elseif set[node] % 3 == 0 then
    set[node] = nil
  else
    set[node] = set[node] + 1
  end
  sum = sum + (set[node] or 0)
end
print(sum)

-- Keys that are always the same object, equal by __eq only, or made anew.
local meta = { __eq = function() return true end }
local a, b = setmetatable({}, meta), setmetatable({}, meta)
local by = { [a] = 1, [noop] = 5 }
local count = 0
for i = 1, 300 do
  count = count + by[a] + by[noop] + (by[b] or 100) + (by[{}] or 10)
  if i == 200 then by[b] = 2 end
end
print(count)

-- An __index for keys that are not there.
local asked = 0
local with_default = setmetatable({ [a] = 1 }, { __index = function(_, key) asked = asked + 1 return key == b and 3 or 0 end })
local got = 0
for i = 1, 300 do got = got + with_default[i % 3 == 0 and b or a] + with_default[nodes[i % 5 + 1]] end
print(got, asked)
