-- string.dump and loading what it wrote: what survives, what is refused.

local function roundtrip(f, strip) return assert(load(string.dump(f, strip), "=again", "b")) end

-- The header, and that dumping is stable.
local d = string.dump(function(a, b) return a + b end)
print(d:find("^\27LJ") ~= nil, #d > 10, load(d)(2, 3), string.dump(load(d)) == d)
print(#string.dump(load(d), true) < #d)

-- Constants of all kinds.
local function constants()
  return nil, true, false, 0, -1, 32767, 32768, -2147483648, 2147483648, 0.5, 1e300, -1e-300, 1 / 0, -1 / 0, "", "a\0b", ("x"):rep(3)
end
print(roundtrip(constants)())
print(roundtrip(constants, true)())
local t = roundtrip(function() return { 1, 2, nil, "four", [0] = "zero", [2.5] = "num", [true] = 1, [false] = 2, k = "v", n = nil, { 5 } } end)()
print(t[0], t[1], t[2], t[3], t[4], t[2.5], t[true], t[false], t.k, t.n, t[5][1])
local many = {}
for i = 1, 400 do many[i] = "'s" .. i .. "', " .. i .. ".5" end
local list = { roundtrip(assert(loadstring("local t = {" .. table.concat(many, ",") .. "} return #t, t[799], t[800]")))() }
print(unpack(list))

-- Control flow, varargs, closures, methods, goto, generic loops, several results.
local function sample(n, ...)
  local r = {}
  for i = n, 1, -1 do r[#r + 1] = i end
  for i, v in ipairs(r) do r[i] = v * 2 end
  local sum = 0
  for k, v in pairs(r) do sum = sum + k * v end
  for a, b in (function(s, c) if c < 3 then return c + 1, c * s end end), 5, 0 do r[#r + 1] = a .. ":" .. b end
  while true do sum = sum + 1 if sum % 7 == 0 then break end end
  repeat local done = sum > 100 sum = sum * 2 until done
  do local i = 0 ::again:: i = i + 1 if i < 3 then goto again end sum = sum + i end
  local fs = {}
  for i = 1, 3 do fs[i] = function() i = i + 1 sum = sum + i return i end end
  local obj = { v = 1 }
  function obj:add(x) self.v = self.v + x return self end
  local e = { select("#", ...), ... }
  return sum, fs[1]() + fs[1]() + fs[3](), obj:add(2):add(3).v, e[1], table.concat(r, " "), (...)
end
print(sample(5, "a", nil, "c"))
print(roundtrip(sample)(5, "a", nil, "c"))
print(roundtrip(sample, true)(5, "a", nil, "c"))
print(roundtrip(roundtrip(sample))(5, "a", nil, "c"))

-- Upvalues are new and nil, and not shared; the global environment is that of the loader.
local up = 5
local function counter(v) if v then up = v end return up end
local one, two = roundtrip(counter), roundtrip(counter)
print(one(), one(7), one(), two(), counter())
print(pcall(roundtrip(function() return up.x end)))
x = "global"
print(load(string.dump(function() return x end), "=e", "b", { x = "mine" })(), roundtrip(function() return x end)())

-- Hot code is dumped as it was written.
local function hot(n)
  local s, keys = 0, 0
  for i = 1, n do s = s + i % 3 end
  for k in pairs({ a = 1, b = 2, c = 3 }) do keys = keys + #k end
  for _, v in ipairs({ 1, 2, 3 }) do s = s + v end
  local i = 0
  while i < n do i = i + 1 end
  return s + i, keys
end
local cold = string.dump(hot)
for _ = 1, 100 do hot(100) end
print(string.dump(hot) == cold, load(cold)(1000))
local function over(t) local n = 0 for k, v in next, t do n = n + v end return n end
local big = {}
for i = 1, 200 do big[i] = i end
cold = string.dump(over)
for _ = 1, 50 do over(big) end
print(string.dump(over) == cold, load(cold)(big))
local function tail(n, acc) if n == 0 then return acc end return tail(n - 1, acc + n) end
for _ = 1, 100 do tail(100, 0) end
print(roundtrip(function() local function t2(n, acc) if n == 0 then return acc end return t2(n - 1, acc + n) end return t2(1000, 0) end)())

-- Debug information, and without.
local function fails(p)
  local q = p
  return q.field
end
local info = debug.getinfo(roundtrip(fails), "Su")
print(info.linedefined == debug.getinfo(fails, "S").linedefined, info.what, info.nups, info.source == debug.getinfo(1, "S").source)
print((select(2, pcall(roundtrip(fails))):gsub("^.-:", "FILE:")))
print((select(2, pcall(roundtrip(fails, true)))))
print(debug.getlocal(roundtrip(fails), 1), debug.getlocal(roundtrip(fails, true), 1))
print(debug.getupvalue(roundtrip(counter), 1))
info = debug.getinfo(roundtrip(fails, true), "S")
print(info.source, info.short_src, info.linedefined, info.lastlinedefined, info.what)

-- Deep nesting and many functions.
local nested = "return 'deep'"
for _ = 1, 40 do nested = "return (function() " .. nested .. " end)()" end
print(roundtrip(assert(loadstring(nested)))())
local fns = {}
for i = 1, 300 do fns[i] = "f[" .. i .. "] = function(a) return a + " .. i .. " end" end
print(roundtrip(assert(loadstring("local f = {} " .. table.concat(fns, "\n") .. " return f[1](1) + f[300](2)")))())

-- Refused.
print(pcall(string.dump, print))
print(pcall(string.dump, string.format))
print(pcall(string.dump))
print(load(d, "=d", "t"))
print(load(d:sub(1, -2), "=d"))
print(load(d .. "x", "=d"))
print(load("\27LJ", "=d"))
print(load("\27Lua", "=d"))
print(load("\27LJ\1" .. d:sub(5), "@d"))
print(load(d:sub(1, 20)))
local refused = 0
for i = 5, #d - 1 do if not load(d:sub(1, i)) then refused = refused + 1 end end
print(refused == #d - 5)

-- In pieces, and from a file.
local i = 0
print(load(function() i = i + 1 return i <= #d and d:sub(i, i) or nil end, "=pieces", "b")(20, 22))
local name = os.tmpname()
local h = assert(io.open(name, "wb"))
h:write(string.dump(function(...) return "from a file", ... end, true))
h:close()
print(loadfile(name)(1, 2), dofile(name))
print(loadfile(name, "t"))
os.remove(name)
print("ok")
