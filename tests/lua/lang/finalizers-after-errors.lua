-- A finalizer may run where an error is caught: what pcall returns stays as it was.
local finalized, wrong = 0, 0
local function finalizer(...)
  finalized = finalized + 1
  local ok, e = pcall(error, { ... })
  return select("#", e, ok, ...), ok, e
end
local function object()
  local u = newproxy(true)
  getmetatable(u).__gc = finalizer
end
local function count(...)
  local n, ok, e, third = select("#", ...), ...
  if n ~= 2 or ok or not (type(e) == "string" and e:find("^bad argument #2")) or third then wrong = wrong + 1 end
end
local rep = string.rep
for i = 1, 30000 do
  if i % 3 == 0 then object() end
  count(pcall(rep, i))
end
print(wrong, finalized > 1000)

-- In a coroutine, and under xpcall.
local bad = 0
for i = 1, 3000 do
  object()
  local co = coroutine.wrap(function(...)
    local ok, e = xpcall(rep, function(m) return { m, i } end, ...)
    coroutine.yield(ok, e)
    return pcall(rep, ...)
  end)
  local ok, e = co(i)
  if ok or e[2] ~= i then bad = bad + 1 end
  if select("#", co()) ~= 2 then bad = bad + 1 end
end
print(bad)
