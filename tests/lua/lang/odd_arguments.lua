-- Every function of the libraries that has no effect outside, with none, one and two arguments of each odd kind (and three for some), called
-- directly, through pcall and as a tail call: a line for each function with the number of results and errors, and a sum of all of them. As under luajit,
-- but for math.ceil, math.floor (nothing given), table.remove (a fraction).
local skip = {}
for name in ([[print collectgarbage gcinfo dofile loadfile require module setfenv getfenv newproxy
  coroutine.yield coroutine.running coroutine.wrap coroutine.create debug.debug debug.sethook debug.gethook debug.getregistry debug.setfenv debug.getfenv
  debug.setmetatable debug.setlocal debug.getlocal debug.getinfo debug.setupvalue debug.upvaluejoin debug.upvalueid debug.traceback math.random math.randomseed
  os.exit os.execute os.remove os.rename os.tmpname os.clock os.time os.getenv os.date os.setlocale string.dump package.loadlib package.seeall]]):gmatch "%S+" do
  skip[name] = true
end
local co, proxy, print_ = coroutine.create(function() end), newproxy(true), print
local function f(a, b) return a end
local function arguments()
  return {
    n = 36, nil, true, false, 0, -0.0, 1, 3, -1, 1.5, -2.7, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1e300, -1e300, 1 / 0, -1 / 0, 0 / 0, "10", "0x10", " 5 ", "", "abc",
    "a%", "a\0b", "\255\254", "%d", "[a", "(a", "%1", {}, { 3, 1, 2 }, { "b", "a" }, f, co, proxy,
  }
end
local sum = 0
local function add(text)
  for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 2147483647 end
end
local function show(v, inner)
  local t = type(v)
  if t == "string" then return (v:gsub("builtin#%d+", "builtin"):gsub("0x%x%x%x%x%x+", "ADDR")) end
  if t == "number" then return v ~= v and "nan" or v % 1 == 0 and v < 2 ^ 53 and v > -2 ^ 53 and ("%d"):format(v) or ("%.10g"):format(v) end
  if t ~= "table" or inner then return t == "boolean" and tostring(v) or t end
  local parts = {}
  for k, x in next, v do parts[#parts + 1] = show(k, true) .. "=" .. show(x, true) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end
local good, bad
local function note(ok, ...)
  if ok then good = good + 1 else bad = bad + 1 end
  local n = select("#", ...)
  add((ok and "+" or "-") .. n)
  for i = 1, math.min(n, 5) do add(show((select(i, ...)))) end
end
local function direct(f, ...) local a, b, c = f(...) return a, b, c end
local function tail(f, ...) return f(...) end
local function call(f, n, a, b, c)
  note(pcall(f, unpack({ a, b, c }, 1, n)))
  if n < 2 then note(pcall(tail, f, unpack({ a, b, c }, 1, n))) end
  note(pcall(direct, f, unpack({ a, b, c }, 1, n)))
end
local three = {}
for name in ([[string.find string.rep string.sub string.byte string.gsub string.match string.format table.concat unpack select rawset tonumber]]):gmatch "%S+" do
  three[name] = true
end
local names = {}
local function collect(prefix, t)
  for k, v in pairs(t) do
    if type(v) == "function" and not skip[prefix .. k] then names[#names + 1] = { prefix .. k, v } end
  end
end
collect("", { assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, load = load, loadstring = loadstring, next = next, pairs = pairs,
  pcall = pcall, rawequal = rawequal, rawget = rawget, rawset = rawset, select = select, setmetatable = setmetatable, tonumber = tonumber,
  tostring = tostring, type = type, unpack = unpack, xpcall = xpcall })
for _, lib in ipairs { "string", "table", "math", "bit", "coroutine", "debug", "os", "package" } do collect(lib .. ".", _G[lib]) end
table.sort(names, function(a, b) return a[1] < b[1] end)
for _, entry in ipairs(names) do
  local name, fn = entry[1], entry[2]
  sum, good, bad = 0, 0, 0
  call(fn, 0)
  local n = arguments().n
  for i = 1, n do call(fn, 1, arguments()[i]) end
  for i = 1, n do
    for j = 1, n do
      call(fn, 2, arguments()[i], arguments()[j])
      if three[name] and (i + j) % 3 == 0 then
        for k = 1, n, 3 do call(fn, 3, arguments()[i], arguments()[j], arguments()[k]) end
      end
    end
  end
  print_(name, good, bad, sum)
end
