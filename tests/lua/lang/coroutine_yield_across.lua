-- Yield across pcall, xpcall, metamethods, iterators and method calls; where it is not allowed, it says so.

local yield, wrap, create, resume = coroutine.yield, coroutine.wrap, coroutine.create, coroutine.resume

-- Drives a coroutine to its end, feeding it 1, 2, 3...; prints what comes out.
local function drive(f, ...)
  local co, out, n = create(f), {}, 0
  local ok, a, b = resume(co, ...)
  while true do
    out[#out + 1] = tostring(a) .. (b ~= nil and "," .. tostring(b) or "")
    if not ok or coroutine.status(co) == "dead" then break end
    n = n + 1
    ok, a, b = resume(co, n)
  end
  print(ok, table.concat(out, " | "))
end

-- pcall and xpcall.
drive(function() return pcall(function() local v = yield("in pcall") return v + 10 end) end)
drive(function() return pcall(yield, "direct") end)
drive(function() return pcall(function() yield("then fails") error("failed", 0) end) end)
drive(function() return xpcall(function(a) local v = yield("x" .. a) return v end, print, "arg") end)
drive(function() return xpcall(function() yield("x") error("bad", 0) end, function(m) return m .. "!" end) end)
drive(function()
  local r = {}
  for i = 1, 3 do
    local ok, v = pcall(function()
      local got = yield(i)
      if i == 2 then error("two", 0) end
      return got * 100
    end)
    r[#r + 1] = tostring(ok) .. v
  end
  return table.concat(r, " ")
end)
drive(function()
  return pcall(pcall, function() return pcall(function() return yield(pcall(yield, "deepest")) end) end)
end)
drive(function() error(yield("error after yield"), 0) end)

-- Metamethods of every kind.
local mt = {}
local obj = setmetatable({}, mt)
for _, event in ipairs { "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__concat" } do
  mt[event] = function() return yield(event) end
end
mt.__index = function(_, k) return yield("index " .. k) end
mt.__newindex = function(t, k, v) rawset(t, k, yield("newindex " .. k) + v) end
mt.__call = function(_, a) return yield("call " .. a), a end
mt.__lt = function() return yield("lt") > 0 end
mt.__le = function() return yield("le") < 0 end
mt.__eq = function() return yield("eq") == 1 end
local other = setmetatable({}, mt)
drive(function() return obj + 1, 2 - obj end)
drive(function() return obj * 2, obj / 2 end)
drive(function() return obj % 2, obj ^ 2 end)
drive(function() return -obj, obj .. "s" end)
drive(function() return "a" .. obj .. "b", "c" .. obj end)
drive(function() return obj.key, obj[5] end)
drive(function() obj.k1 = 100 return rawget(obj, "k1") end)
drive(function() return obj("arg") end)
drive(function() return obj < other, obj > other end)
drive(function() return obj <= other, obj >= other end)
drive(function() return obj == other, obj ~= other end)
drive(function() if obj < other then return "less" else return "not" end end)
drive(function() if not (obj <= other) then return "not le" else return "le" end end)
drive(function() while obj == other do return "eq" end return "ne" end)
drive(function() local t = { obj.a, obj.b, n = obj.c } return #t, t.n end)
drive(function() return (obj + obj) + (obj.x .. "y") == nil end)

-- Iterators and loops.
drive(function()
  local sum = 0
  for a, b in function(_, c) if (c or 0) < 3 then return (c or 0) + 1, yield("iter") end end do sum = sum + a * b end
  return sum
end)
drive(function()
  local s = ""
  for k, v in pairs { 10, 20 } do s = s .. k .. yield(v) end
  for i = yield("from"), yield("to") + 1 do s = s .. i end
  return s
end)
drive(function()
  local n = 0
  while yield("while") < 3 do n = n + 1 end
  repeat n = n + 10 until yield("until") > 4
  return n
end)
drive(function()
  for line in wrap(function() for i = 1, 2 do yield("line" .. i) end end) do yield(line) end
  return "lines done"
end)

-- In arguments, in table constructors, in tail position, in varargs.
drive(function() return string.format("%s-%s", yield("a1"), yield("a2")) end)
drive(function() return #{ yield("t1"), yield("t2"), [10] = yield("t3") } end)
drive(function() return yield("tail") end)
drive(function(...) return select("#", ...), yield(...) end, "v1", "v2")
drive(function() local function rec(n) if n == 0 then return yield("rec") end return rec(n - 1) + 1 end return rec(100) end)
drive(function() return tostring(setmetatable({}, { __tostring = function() return "ts" .. yield("tostring") end })) end)
drive(function() local f = load(function() return nil end) return f and f() end)

-- Not across library functions that call back.
local function refused(f)
  local co = create(f)
  local ok, m = resume(co)
  print(ok, m, coroutine.status(co))
end
refused(function() table.sort({ 3, 2, 1 }, function(a, b) yield() return a < b end) end)
refused(function() return string.gsub("abc", "b", function() yield() end) end)
refused(function() return load(function() yield() end) end)

-- table.foreach and dofile-like wrappers are ordinary calls.
drive(function() return table.foreachi({ "x", "y" }, function(i, v) yield(i .. v) end) end)
print("ok")
