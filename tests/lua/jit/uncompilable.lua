-- Hot code that a trace compiler has to give up on now and then: it must run on, just slower.

-- Loading code, running coroutines and opening files inside of hot loops.
local s = 0
for i = 1, 300 do
  s = s + loadstring("return " .. i .. " * 2")()
  if i % 3 == 0 then s = s + coroutine.wrap(function() coroutine.yield(1) end)() end
end
print(s)

-- debug and environment functions, collectgarbage, string.dump.
local d = 0
for i = 1, 200 do
  d = d + debug.getinfo(1, "l").currentline * 0 + #string.dump(function() return 1 end) * 0
  if i % 50 == 0 then collectgarbage("step") end
  d = d + (getfenv(1) == _G and 1 or 0)
end
print(d)

-- A loop whose every round is different: many side exits, more than any limit.
local function choose(i)
  local k = i % 150
  local t = {}
  for b = 0, 7 do if bit.band(k, bit.lshift(1, b)) ~= 0 then t[#t + 1] = b else t[#t + 1] = -b end end
  local r = 0
  for j = 1, #t do r = r * 2 + (t[j] > 0 and 1 or 0) end
  return r
end
local c = 0
for i = 1, 6000 do c = (c + choose(i)) % 1000003 end
print(c)

-- A function of which every call has another way through: 2^10 paths.
local function paths(x)
  local r = 0
  if x % 2 == 0 then r = r + 1 end
  if x % 3 == 0 then r = r + 2 end
  if x % 5 == 0 then r = r + 4 end
  if x % 7 == 0 then r = r + 8 end
  if x % 11 == 0 then r = r + 16 end
  if x % 13 == 0 then r = r + 32 end
  if x % 17 == 0 then r = r + 64 end
  if x % 19 == 0 then r = r + 128 end
  if x % 23 == 0 then r = r + 256 end
  if x % 29 == 0 then r = r + 512 end
  return r
end
local p = 0
for i = 1, 10000 do p = (p * 3 + paths(i)) % 1000003 end
print(p)

-- Many different loops, each hot once.
local sources = {}
for k = 1, 120 do
  sources[k] = string.format("local s = 0 for i = 1, 200 do s = s + i %% %d if i %% %d == 0 then s = s + %d end end return s", k, k % 7 + 2, k)
end
local m = 0
for k = 1, #sources do m = m + loadstring(sources[k])() end
print(m)

-- One very long loop body.
local lines = {}
for k = 1, 700 do lines[k] = string.format("x = (x * %d + i) %% 1009 if x == %d then y = y + 1 end", k % 13 + 1, k) end
local long = loadstring("local x, y = 1, 0 for i = 1, 150 do " .. table.concat(lines, "\n") .. " end return x, y")
print(long())

-- Very deep calls and very wide calls from a hot loop.
local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
local function wide(...) return select("#", ...), (select(150, ...)) end
local args = {}
for i = 1, 200 do args[i] = i end
local w = 0
for i = 1, 200 do
  local n, v = wide(unpack(args))
  w = w + depth(i * 3) + n + v
end
print(w)

-- Loops that are left by error, yield and return in each of their first rounds only.
local kinds = { 0, 0, 0 }
local co = coroutine.wrap(function()
  while true do
    for i = 1, 100 do
      kinds[1] = kinds[1] + 1
      if i > 2 then break end
      coroutine.yield(i)
    end
  end
end)
for i = 1, 500 do
  kinds[2] = kinds[2] + co()
  pcall(function() for k = 1, 100 do kinds[3] = kinds[3] + 1 if k == i % 3 + 1 then error("out") end end end)
end
print(kinds[1], kinds[2], kinds[3])

-- jit.off for a function, flush in the middle, on again: only speed may change.
local function work(n) local r = 0 for i = 1, n do r = (r * 7 + i) % 10007 end return r end
local before = work(500)
jit.off(work, true)
local off = work(500)
jit.on(work, true)
jit.flush()
local after = 0
for i = 1, 100 do
  after = work(500)
  if i % 25 == 0 then jit.flush() end
end
print(before == off and off == after, before)
print("ok")
