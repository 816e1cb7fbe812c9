-- A handler of recorded instructions, which has locals of its own, overwrites no open results: neither in front of the instruction that takes them, nor
-- where one that closes upvalues stands before that.
local function deep(n)
  local a, b, c, d = 1, 2, 3, 4
  if n > 0 then deep(n - 1) end
  return a
end
jit.attach(function()
  local a, b, c, d, e, f, g, h = 1, 2, 3, 4, 5, 6, 7, 8
  deep(3)
end, "record")
local function id(...) return ... end
local cases = {
  function(...) local a = 1 do local f = function() return a end if select("#", ...) > 2 then return id(...) end end end,
  function(...) for i = 1, 2 do local x = i local f = function() return x end if i == 2 then return f(), id(...) end end end,
  function(...) local t = { ... } for k, v in ipairs(t) do local g = function() return v end if k == 3 then return g(), ... end end end,
  function(...) local x = ... local t = { function() return x end, ... } return #t, t[2], t[4] end,
  function(...) local x = 2 local function f() return x end return pcall(function(...) return f(), ... end, ...) end,
}
local function text(...)
  local t = {}
  for i = 1, select("#", ...) do t[i] = tostring((select(i, ...))) end
  return table.concat(t, ",")
end
local expected = {}
jit.off()
for k, f in ipairs(cases) do expected[k] = text(f(11, 12, 13, 14)) end
jit.on()
for k, f in ipairs(cases) do
  for i = 1, 200 do
    local found = text(f(11, 12, 13, 14))
    assert(found == expected[k], found)
  end
end
print "ok"
