-- Running out of stack is an error like any other: caught, with its message, and the state is usable afterwards.

local function depth_of(f)
  local depth = 0
  local ok, message = pcall(f, function() depth = depth + 1 end)
  return ok, message, depth
end

-- Plain recursion.
local function plain(tick) tick() return 1 + plain(tick) end
local ok, message, depth = depth_of(plain)
print(ok, message:find("stack overflow", 1, true) ~= nil, depth > 1000, depth < 1000000)

-- Again, many times: nothing is lost between.
for _ = 1, 5 do
  local ok2, message2, depth2 = depth_of(plain)
  assert(not ok2 and message2:find("stack overflow", 1, true) and math.abs(depth2 - depth) < 100)
end

-- Mutual recursion, through methods, and with many locals.
local a, b
function a(n) return 1 + b(n + 1) end
function b(n) return 1 + a(n + 1) end
print(select(2, pcall(a, 1)):find("stack overflow", 1, true) ~= nil)
local o = {}
function o:m() return self:m() + 1 end
print(select(2, pcall(o.m, o)):find("stack overflow", 1, true) ~= nil)
local function wide(n)
  local a1, a2, a3, a4, a5, a6, a7, a8, a9 = n, n, n, n, n, n, n, n, n
  return wide(n + 1) + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9
end
print(select(2, pcall(wide, 1)):find("stack overflow", 1, true) ~= nil)

-- Through metamethods.
local endless = setmetatable({}, {})
getmetatable(endless).__index = function(t, k) return t[k + 1] + 1 end
print((pcall(function() return endless[1] end)))
getmetatable(endless).__add = function(x, y) return (x + y) .. "" end
print((pcall(function() return endless + 1 end)))
getmetatable(endless).__call = function(self) return self() .. "" end
print((pcall(endless)))

-- Through pcall: each level catches.
local levels = 0
local function careful()
  levels = levels + 1
  local fine, e = pcall(careful)
  return fine, e
end
local r1, r2 = careful()
print(r1, type(r2) == "string" or r2, levels > 100)

-- Varargs and unpack.
local function spread(...) return spread(1, ...) + 1 end
print((pcall(spread)))
print(pcall(unpack, {}, 1, 1e6))
local function many(n) return select("#", unpack({}, 1, n)) end
print(many(7000))

-- In a coroutine the main one is not harmed.
local co = coroutine.create(function() return plain(function() end) end)
local cok, cmessage = coroutine.resume(co)
print(cok, cmessage:find("stack overflow", 1, true) ~= nil, coroutine.status(co))

-- A handler runs even then.
local seen
print(xpcall(function() return plain(function() end) end, function(m)
  seen = m:find("stack overflow", 1, true) ~= nil
  return "handled"
end))
print(seen)

-- Deep but finite recursion is fine.
local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
print(sum(10000), pcall(sum, 15000))
local function build(n) return n == 0 and {} or { build(n - 1) } end
local function height(t) return t[1] and 1 + height(t[1]) or 0 end
print(height(build(5000)))
local function each(t, f) if t[1] then each(t[1], f) end f() end
local count = 0
each(build(3000), function() count = count + 1 end)
print(count)
print("ok")

-- Handing on all arguments and one more.
local function more(...) return more(1, ...) end
print(pcall(more))
local function deeper(...) return (deeper(1, ...)) end
print(pcall(deeper))
