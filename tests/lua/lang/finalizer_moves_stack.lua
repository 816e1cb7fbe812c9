-- A finalizer that needs more stack than there is moves it under the instruction at which the collector ran.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local depth
local last
local count = 0 -- so that no string is made twice
local function garbage()
  local p = newproxy(true)
  getmetatable(p).__gc = function() depth = deep(150) end
end
local function with(what)
  local a, b, c = 1, 2, 3
  depth = nil
  garbage()
  for i = 1, 1e7 do
    count = count + 1
    local t = what(count)
    last = t -- escapes
    if depth then break end
  end
  return a, b, c, depth
end
local kinds = {
  table = function(i) local x, y = i, {} return x and y end,
  template = function(i) local x, y = i, { 1, i } return x and y end,
  closure = function(i) local x, y = i, function() return i end return x and y end,
  concat = function(i) local x, y = i, "a" .. i return x and y end,
  builtin = function(i) local x, y = i, ("x"):rep(3) .. string.format("%d", i) return x and y end,
  set = function(i) local t = {} t[i % 1000], t.x = i, i return t end,
}
local names = {}
for name in pairs(kinds) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  for i = 1, 20 do
    local co = coroutine.create(with)
    local ok, a, b, c, d = coroutine.resume(co, kinds[name])
    assert(ok, a)
    assert(a == 1 and b == 2 and c == 3 and d == 150, name)
  end
  print(name)
end
