-- Metamethods that end in the tail call of a builtin, whose frame replaces theirs: also in hot loops, with errors, and with any number of
-- results.

local format, rep, concat, tostring, rawset = string.format, string.rep, table.concat, tostring, rawset
local stored = {}
local object = setmetatable({n = 3}, {
  __index = function(t, k) return format('%s:%d', k, rawget(t, 'n')) end,
  __newindex = function(t, k, v) return table.insert(stored, format('%s=%s', k, v)) end,
  __add = function(a, b) return rep('x', type(a) == 'number' and a or b) end,
  __sub = function(a, b) return select(2, a, b, 'more') end,
  __mul = function(a, b) return unpack({}) end,
  __unm = function(a) return tostring(rawget(a, 'n')) end,
  __len = function() return 5 end,
  __concat = function(a, b) return concat({type(a), type(b)}, '..') end,
  __eq = function(a, b) return format('%d', rawget(a, 'n')) == '3' end,
  __lt = function(a, b) return rawget(a, 'n') < rawget(b, 'n') end,
  __le = function(a, b) return rawequal(a, b) end,
  __call = function(self, a, b) return format('%s-%s', a, b), 'second' end,
})
local other = setmetatable({n = 4}, getmetatable(object))

local function show(what, f)
  local counts, order = {}, {}
  for i = 1, 200 do
    local results = {pcall(f, i)}
    local text = {}
    for k = 1, #results do text[k] = tostring(results[k]) end
    text = concat(text, ' ')
    if not counts[text] then
      counts[text] = 0
      order[#order + 1] = text
    end
    counts[text] = counts[text] + 1
  end
  for k = 1, math.min(#order, 4) do print(what, order[k], counts[order[k]]) end
  print(what, #order)
end

show('index', function(i) return object.key, object['k' .. i % 3] end)
show('newindex', function(i) object.key = i % 2 return #stored, stored[#stored] end)
show('add', function(i) return object + i % 3, (i % 2) + object end)
show('sub', function() return object - 1 end)
show('mul', function() local x = object * 2 return x end)
show('unm', function() return -object, -other end)
show('concat', function(i) return object .. 'a', 'a' .. object, 1 .. 2 .. object .. i % 2 end)
show('compare', function() return object == other, object < other, object <= other, other > object end)
show('call', function(i) return object(i % 2, 'b') end)
show('call, one result', function(i) return (object(i % 2, 'b')) end)

-- Errors of the builtin, with the position that they have without the compiler.
local bad = setmetatable({}, {
  __index = function(t, k) return rep(k, k) end,
  __add = function(a, b) return format('%d', b) end,
  __newindex = function(t, k, v) return rawset(v, k, v) end,
})
show('errors of index', function(i) return bad[i % 50 == 0 and 'x' or 2] end)
show('errors of add', function(i) return bad + (i % 40 == 0 and {} or 1) end)
show('errors of newindex', function(i) local t = {} bad.k = i % 30 == 0 and 5 or t return t.k == t end)

-- In the loop itself, without a protected call.
local s, t = 0, {}
for i = 1, 300 do
  s = s + #object[i % 7] + #(object + i % 5) + #-object
  object.z = i
  t[#t + 1] = object(i, s)
end
print(s, #stored, stored[#stored], #t, t[#t])

-- One metamethod inside another.
local outer = setmetatable({}, {__index = function(_, k) return format('<%s>', object[k]) end})
local length = 0
for i = 1, 300 do length = length + #outer[i] + #outer.name end
print(length)
