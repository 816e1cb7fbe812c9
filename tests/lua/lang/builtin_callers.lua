-- Builtins that the interpreter executes itself, by every way of calling one; after each call the caller uses constants of its own.
local bit = require "bit"
local band, bnot, floor, max, abs = bit.band, bit.bnot, math.floor, math.max, math.abs

local function tail(x) return band(x, 0xff0) end
local function tail_vararg(...) return max(...) end
local function tail_of_tail(x) return tail(x + 4096) end
local function use(v) return v, "its own", 12345.5, "another" end

print(use(tail(0x1234)))
print(use(tail_vararg(3, 9)))
print(use(tail_of_tail(0x1234)))
print((tail(0xabc)) + 1000.25, "constants of the main chunk")

-- In the middle of an expression, with more and fewer results than there are.
local function middle(t)
  local a, b, c = floor(t.x), "string constant", 7.25
  local d, e = abs(-3.5)
  return a, b, c, d, e, select("#", band(1, 3))
end
print(middle { x = 2.75 })

-- By pcall and xpcall, as a function and in tail position of one.
local function protected(f, ...)
  local ok, v = pcall(f, ...)
  return ok, v, "after pcall"
end
print(protected(band, 7, 2))
print(protected(tail, 0x777))
print(protected(function() return floor(2.5) end))
print(protected(function() return floor {} end))
print(xpcall(bnot, print, 5))
print(xpcall(function() return bnot(5) end, print))
local function tail_pcall(x) return pcall(band, x, 12) end
print(tail_pcall(15), "after a call of pcall in tail position")

-- As metamethods: of a call, of an index, of tostring.
local callable = setmetatable({}, { __call = type, __tostring = type, __index = select })
local function call(o) return o(), "after a call" end
local function tail_call(o) return o() end
local function text(o) return tostring(o), "after tostring" end
local function tail_text(o) return tostring(o) end
print(call(callable))
print(use(tail_call(callable)))
print(text(callable))
print(use(tail_text(callable)))
print(pcall(function() return callable.field, "not reached" end))
local typed = setmetatable({}, { __index = type, __unm = type, __len = type, __concat = type, __eq = type })
print(typed.field, -typed, typed .. "", "constants after metamethods")
print(pcall(function() return typed < typed end))

-- As iterators.
local function iterate(t)
  local n = 0
  for i, v in ipairs(t) do n = n + i * v + 0.5 end
  for v in function(_, v) return v and v > 1 and floor(v / 2) or nil end, nil, 40 do n = n + v + 0.25 end
  return n, "after loops"
end
print(iterate { 1, 2, 3 })

-- In coroutines: as their function, and in tail position, where the coroutine ends.
print(coroutine.wrap(bnot)(1), "after a coroutine that is a builtin")
local function resumed(f, ...)
  local co = coroutine.create(f)
  local ok, v = coroutine.resume(co, ...)
  return ok, v, coroutine.status(co), "after resume"
end
print(resumed(band, 6, 3))
print(resumed(tail, 0x999))
local function yields(...) return coroutine.yield(...) end
local function generator(n)
  return coroutine.wrap(function()
    for i = 1, n do
      local got = yields(i, "yielded")
      assert(got == i * 2.5, "what was passed")
    end
    return yields("last"), "constant of the coroutine"
  end)
end
local function drive(n)
  local g = generator(n)
  local out = { (g()) }
  for i = 1, n do
    local v, what = g(i * 2.5)
    out[#out + 1] = tostring(v) .. ":" .. tostring(what)
  end
  local a, b = g("end")
  return table.concat(out, " "), a, b, "constants of the driver"
end
print(drive(3))
local function tail_resume(co, ...) return coroutine.resume(co, ...) end
local co = coroutine.create(function(a)
  while true do a = coroutine.yield(a + 0.125, "k") end
end)
for i = 1, 3 do print(use((select(2, tail_resume(co, i))))) end

-- Coroutines in coroutines, whose stacks grow while they wait.
local function deep(n) if n == 0 then return coroutine.yield("deep", 0.75) end return (deep(n - 1)) end
local outer = coroutine.wrap(function()
  local inner = coroutine.wrap(function(...)
    local v = deep(300)
    return v, "inner is done"
  end)
  local a, b = inner()
  coroutine.yield(a, b, "outer")
  local c, d = inner("back")
  return c, d, 4.5
end)
print(outer())
print(outer())
