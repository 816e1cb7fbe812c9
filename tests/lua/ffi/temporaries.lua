-- References that are made for one use have one cell, one after the other. Those that somebody still has keep theirs.
local ffi = require "ffi"
ffi.cdef [[
typedef struct { int x, y; } tpoint;
typedef struct tnode { struct tnode *next; tpoint at; int items[4]; } tnode;
]]
local n = 6
local points = ffi.new("tpoint[?]", n)
local nodes = ffi.new("tnode[?]", n)
for i = 0, n - 1 do nodes[i].next = nodes + (i + 1) % n end

-- Stores and loads through temporaries, with sums in between.
local function fill(k)
  for i = 0, n - 1 do
    points[i].x = i * k
    points[i].y = points[i].x + points[(i + 1) % n].x * 2
    nodes[i].at.x = points[i].y
    nodes[i].at.y = nodes[i].at.x - points[i].x
    nodes[i].items[i % 4] = nodes[i].at.y
    nodes[i].next.items[1] = i
    nodes[i].next.next.at.y = nodes[i].next.items[1] + nodes[i].at.x
  end
end
for k = 1, 40 do fill(k) end
local sum = 0
for i = 0, n - 1 do
  sum = sum * 7 + points[i].x + points[i].y * 2 + nodes[i].at.x + nodes[i].at.y * 3 + nodes[i].items[1] + nodes[i].items[i % 4]
end
print(sum)

-- Those that are kept: in variables, tables, upvalues, results and arguments.
local kept = {}
local function keep(v) kept[#kept + 1] = v return 1 end
local captured
local get = function() return captured end
for i = 0, n - 1 do
  local p, q = points[i], points[(i + 1) % n]
  p.x = 10 * i
  q.y = 5
  local r = points[i]
  r.x = r.x + 1
  kept[#kept + 1] = points[i]
  kept[#kept].x = kept[#kept].x + 1
  captured = points[i]
  captured.y = i
  keep(get())
  keep(points[i]);
  (i % 2 == 0 and points[i] or points[0]).y = i + 1
  points[i].x = points[i].x + keep(points[i])
  local o = { at = points[i] }
  o.at.x = o.at.x + 1
  kept[#kept + 1] = o.at
  assert(p == points[i] and r == p and q ~= p)
end
local function text()
  local t = {}
  for i, p in ipairs(kept) do t[i] = p.x .. ":" .. p.y end
  return table.concat(t, " ")
end
print(text())

-- A cdata that indexes with itself, or is stored to itself.
local list = ffi.new("struct { struct tnode *p[4]; }[2]")
for i = 0, 3 do list[0].p[i] = nodes[i] end
for i = 1, 40 do
  list[i % 2].p[i % 4] = list[(i + 1) % 2].p[(i + 2) % 4]
  if list[i % 2].p[i % 4] == nil then list[i % 2].p[i % 4] = nodes[i % n] end
  local a = list[0]
  a.p[0] = a.p[1]
end
for i = 0, 3 do
  local p = list[1].p[i]
  io.write(p == nil and "nil" or tonumber(p - nodes), " ")
end
print()

-- What a debugger finds in slots is kept.
local seen = {}
local peek = setmetatable({}, {
  __add = function(_, v)
    for i = 1, 30 do
      local name, value = debug.getlocal(2, i)
      if not name then break end
      if type(value) == "cdata" and ffi.istype("tpoint", value) then seen[#seen + 1] = value end
    end
    return v
  end,
})
local function watched(i)
  points[i].x = peek + i
  local v = peek + i
  points[i + 1].y = v
  return v
end
for i = 0, n - 2 do watched(i) end
local wanted = {}
for _, p in ipairs(seen) do wanted[#wanted + 1] = tonumber(ffi.cast("char *", p) - ffi.cast("char *", points)) end
for k = 1, 40 do fill(k) end
for i, p in ipairs(seen) do
  assert(tonumber(ffi.cast("char *", p) - ffi.cast("char *", points)) == wanted[i], "a reference has changed")
  assert(wanted[i] % 8 == 0 and wanted[i] >= 0 and wanted[i] < n * 8)
end
print(#seen >= n - 1)

-- Errors in between, and collections.
for i = 1, 60 do
  local ok = pcall(function()
    points[i % n].x = i
    points[i % n].x = nil + i
  end)
  assert(not ok)
  if i % 7 == 0 then collectgarbage() else collectgarbage "step" end
  points[i % n].y = points[(i + 1) % n].x
end
print(points[1].x, points[2].y)

-- The interpreter makes no garbage.
local function grey()
  for k = 1, 2000 do
    for i = 0, n - 1 do
      local y = 3 * points[i].x + 5 * points[i].y
      points[i].x = y % 100
      points[i].y = nodes[i].at.x % 10
    end
  end
end
jit.off(grey)
grey()
collectgarbage() collectgarbage "stop"
local before = collectgarbage "count"
grey()
local kilobytes = collectgarbage "count" - before
collectgarbage "restart"
print(not jit.version:find "perilune" or kilobytes < 10)
