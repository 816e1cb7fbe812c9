-- The words of run-time errors: what was done, to which kind of variable, of which type, on which line.

local up = nil
local uptab = { field = nil, num = 5 }

local function try(f, ...)
  local ok, message = pcall(f, ...)
  print(message)
end

-- Index.
try(function() local a return a.x end)
try(function() local a return a[1] end)
try(function() local a a.x = 1 end)
try(function() local a a[1] = 1 end)
try(function() return up.x end)
try(function() up.x = 1 end)
try(function() return nosuch.x end)
try(function() nosuch.x = 1 end)
try(function() return uptab.field.x end)
try(function() return uptab.num.x.y end)
try(function() return uptab["field"]["x"] end)
try(function() local k = "key" return uptab[k].x end)
try(function() return uptab[1].x end)
try(function() return uptab[1][2] end)
try(function() return (function() end)().x end)
try(function() return ("x").y.z end)
try(function(a) return a.x end)
try(function(a) return a.x end, true)
try(function(...) return (...).x end, 5)
try(function() local t = {} t.a.b.c = 1 end)
try(function() local t = { a = {} } t.a.b.c = 1 end)
try(function() return #up end)
try(function() return #nosuch end)
try(function() return #uptab.num end)
try(function() local n = 5 return #n end)
try(function() return math.nothing.x end)
try(function() return print.x end)
try(function() local f = print f.x = 1 end)
try(function() local b = true return b.x end)

-- Call.
try(function() local a a() end)
try(function() local a = 5 a(1) end)
try(function() up() end)
try(function() nosuch() end)
try(function() uptab.field() end)
try(function() uptab.num(1, 2) end)
try(function() uptab:field() end)
try(function() uptab:nomethod(1) end)
try(function() local s = "x" s:nomethod() end)
try(function() uptab[1]() end)
try(function() ("x")() end)
try(function() (1)() end)
try(function() ({})() end)
try(function() return nosuch() end)
try(function() return uptab.field(1) end)
try(function() math.nothing(1) end)
try(function() local t = {} t.x.y() end)
try(function() (function() end)()() end)
try(function() print(nosuch()) end)
try(function() nosuch { 1 } end)
try(function() nosuch "s" end)

-- Arithmetic.
try(function() local a return a + 1 end)
try(function() local a return 1 + a end)
try(function() local a, b = {}, {} return a - b end)
try(function() return up * 2 end)
try(function() return 2 / up end)
try(function() return nosuch % 2 end)
try(function() return 2 ^ nosuch end)
try(function() return uptab.field + 1 end)
try(function() return uptab.num + uptab.field end)
try(function() return -up end)
try(function() return -nosuch end)
try(function() return -uptab.field end)
try(function() local s = "abc" return s + 1 end)
try(function() local s = "abc" return 1 - s end)
try(function() local s, t = "1", {} return s * t end)
try(function() local s, t = "abc", "2" return s * t end)
try(function() return {} + {} end)
try(function() return print + 1 end)
try(function() return true + 1 end)
try(function() local a, b, c = 1, 2 return a + b + c end)
try(function() local a, b, c = 1, nil, 3 return a + b * c end)
try(function(x) x = x + 1 return x end)
try(function() uptab.field = uptab.field + 1 end)
try(function() up = up + 1 end)
try(function() nosuch = nosuch + 1 end)

-- Concatenation.
try(function() local a return a .. "x" end)
try(function() local a return "x" .. a end)
try(function() return "x" .. up .. "y" end)
try(function() return nosuch .. "x" end)
try(function() return uptab.field .. "x" end)
try(function() return "x" .. {} end)
try(function() local t = {} return "a" .. "b" .. t .. "c" end)
try(function() return 1 .. true end)
try(function() local b = false return b .. 1 end)

-- Comparison.
try(function() return 1 < "x" end)
try(function() return "x" > 1 end)
try(function() return {} < {} end)
try(function() return {} <= 1 end)
try(function() return nil < nil end)
try(function() return up >= 1 end)
try(function() return 1 > up end)
try(function() return true < 1 end)
try(function() return print <= print end)
try(function() if nosuch < 5 then return 1 end end)
try(function() while uptab.field < 5 do end end)
try(function() return coroutine.create(print) < 5 end)

-- Loops and keys.
try(function() for i = nil, 1 do end end)
try(function() for i = 1, {} do end end)
try(function() for i = 1, 2, "x" do end end)
try(function() for i = 1, up do end end)
try(function() for i in up do end end)
try(function() for i in nosuch do end end)
try(function() for i in 5 do end end)
try(function() uptab[nil] = 1 end)
try(function() uptab[0 / 0] = 1 end)
try(function() local k uptab[k] = 1 end)
try(function() return { [up] = 1 } end)

-- The line is that of the operation.
try(function()
  local a = 1
  local b = a +
    up
  return b
end)
try(function()
  local t = {
    x = 1,
    y = nosuch.z,
  }
  return t
end)
try(function()
  return print(
    nosuch
    .x
  )
end)
try(loadstring("local a\n\n\na.b.c = 1", "=lines"))
try(loadstring("for i = 1, 3 do\n  if i == 2 then\n    error('two')\n  end\nend", "=lines"))
print("ok")
