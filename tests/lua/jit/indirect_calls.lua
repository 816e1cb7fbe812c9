-- Calls of many functions at one instruction: traces end in front of them, and enter the traces of the functions.
local function functions(n, code, ...)
  local list = {}
  for i = 1, n do list[i] = assert(loadstring((code:gsub("%$", i)), "=f" .. i))(...) end
  return list
end
local N = 12

-- As statements, with results, with fewer and more results than are returned.
local acc = functions(N, "return function(st) st.sum = st.sum + $ end")
local two = functions(N, "return function(a, b) return a + $, b * $ end")
local function calls(n)
  local st, s = { sum = 0 }, 0
  for r = 1, n do
    for i = 1, N do
      acc[i](st)
      local a = two[i](r, i)
      local b, c = two[i](i, r)
      local d, e, f = two[i](r, r)
      s = s + a + b * c + d - e + (f == nil and 1 or 0)
      two[i](1, 2)
    end
  end
  return st.sum, s
end
for _ = 1, 3 do print(calls(300)) end

-- Missing and additional arguments; open lists of arguments and results.
local three = functions(N, "return function(a, b, c) return a, b, c or $ end")
local function arguments(n)
  local s = 0
  for r = 1, n do
    for i = 1, N do
      local a, b, c = three[i](r)
      local d, e, f = three[i](r, i, r, 4, 5)
      local g = select("#", three[i](two[i](1, r)))
      local list = { three[i](r, r) }
      s = s + a + (b or 0) + c + d + e + f + g + #list
    end
  end
  return s
end
for _ = 1, 3 do print(arguments(200)) end

-- Vararg functions, builtins and objects with __call among them.
local mixed = functions(N, "return function(...) local a, b = ... return a + (b or $) end")
mixed[3], mixed[5] = math.max, math.abs
mixed[7] = setmetatable({}, { __call = function(self, a, b) return a * 2 end })
mixed[9] = functions(9, "return function(a, b) return a - $ end")[9]
local function mix(n)
  local s = 0
  for r = 1, n do
    for i = 1, N do s = s + mixed[i](r, i) end
    for i = 1, N do s = s + mixed[i](r, nil) end
  end
  return s
end
mixed[3] = function(a, b) return a - 3 end
for _ = 1, 3 do print(mix(200)) end

-- Functions with loops, with calls, with side exits, and with tables that an exit has to make.
local work = functions(N, [[return function(x)
  local t = { x, $ }
  for j = 1, x % 5 do t[1] = t[1] + j end
  if x % 7 == $ % 7 then return t[1], t end
  return t[1] + t[2], t
end]])
local function working(n)
  local s = 0
  for r = 1, n do
    for i = 1, N do
      local x, t = work[i](r + i)
      s = s + x + t[2]
    end
  end
  return s
end
for _ = 1, 3 do print(working(300)) end

-- Recursion through the table, deeper than the stack is at first.
local deep = {}
for i = 1, N do
  deep[i] = assert(loadstring("local deep = ... return function(n) if n == 0 then return 0 end local r = deep[n % " .. N .. " + 1](n - 1) return r + " .. i .. " end"))(deep)
end
for r = 1, 60 do
  local d = r * 100
  local x = deep[1](d)
  if r % 20 == 0 then print(d, x) end
end
print(select(2, pcall(deep[1], 1e7)):gsub("^.-:", ""))

-- Threaded code: each function ends in a tail call of the next.
local ops, code = {}, {}
for i = 1, 1000 do code[i] = i * i % N + 1 end
for i = 1, N do
  ops[i] = assert(loadstring("local ops, code = ... return function(st, k) local pc = st.pc + 1 st.pc = pc st.sum = st.sum + k if pc > st.last then return st.sum, pc end return ops[code[pc % 1000 + 1]](st, " .. i .. ", nil) end"))(ops, code)
end
for _ = 1, 3 do print(ops[1]({ pc = 0, sum = 0, last = 20000 }, 0)) end
-- The same from a vararg function, and with a builtin at the end.
local last = {}
for i = 1, N do
  last[i] = assert(loadstring("local last = ... return function(n, ...) if n == 0 then return select('#', ...) end return last[n % " .. N .. " + 1](n - 1, " .. i .. ", ...) end"))(last)
end
last[4] = tostring
for r = 1, 200 do
  local x = last[r % N + 1](r % 10)
  if r % 50 == 0 then print(r, x) end
end

-- More tail calls, one after the other, than a trace follows.
local chain = {}
for i = 1, 40 do
  chain[i] = assert(loadstring(([[
    local chain = ...
    return function(n, s)
      if n == 0 then return s, NEXT end
      return chain[NEXT](n - 1, s + NEXT)
    end]]):gsub("NEXT", i % 40 + 1)))(chain)
end
for n = 1, 4000, 100 do
  local s, last = chain[40](n, 0)
  if n % 1000 == 1 then print(n, s, last) end
end

-- Errors in them, with their positions; yields; hooks.
local bad = functions(N, "return function(x)\n  if x == 1234 then error('no ' .. $) end\n  return x + $\nend")
local function fails(n)
  local s = 0
  for r = 1, n do for i = 1, N do s = s + bad[i](r == n and i == 5 and 1234 or r) end end
  return s
end
for _ = 1, 3 do print(pcall(fails, 200)) end
local yields = functions(N, "local yield = ... return function(x) if x % 50 == 0 then return yield(x + $) end return x end", coroutine.yield)
local co = coroutine.wrap(function()
  local s = 0
  for r = 1, 200 do for i = 1, N do s = s + yields[i](r) end end
  return s
end)
local x, count = co(), 0
while x < 5000 do x, count = co(x), count + 1 end
print(x, count)
print(debug.traceback("here", 1):match("here\nstack traceback:\n%s+%S+ in main chunk") ~= nil)

-- Replaced while they are hot, and collected.
local changing = functions(N, "return function(x) return x + $ end")
local function change(n)
  local s = 0
  for r = 1, n do
    for i = 1, N do s = s + changing[i](r) end
    if r % 100 == 0 then
      changing[r / 100 % N + 1] = functions(1, "return function(x) return x - $ end")[1]
      collectgarbage()
    end
  end
  return s
end
print(change(1000))
