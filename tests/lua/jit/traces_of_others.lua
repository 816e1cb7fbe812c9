-- Traces of a function that lives long lead through functions that do not, where it calls them and where it returns to them. Those go
-- when the program cannot reach them any more, and their traces with them.
jit.opt.start("hotloop=2", "hotexit=2", "budget=0")
local alive = setmetatable({}, { __mode = "k" })

local function count(t)
  local n = 0
  for _ in next, t do n = n + 1 end
  return n
end
jit.off(count)
local function note(proto) alive[proto] = true end
jit.off(note)

-- Returns to its callers after a loop.
local function sum(n)
  local s = 0
  for i = 1, n do s = s + i end
  return s
end
-- Calls what it is given in a loop.
local function each(n, f)
  local s = 0
  for i = 1, n do s = s + f(i) end
  return s
end

-- While a trace is recorded, no trace is freed, since it may be the one to continue from.
local function collect()
  jit.off()
  jit.on()
  collectgarbage()
end
jit.off(collect)

local function run(text)
  local total = 0
  jit.attach(note, "bc")
  for i = 1, 60 do
    local f = assert(load(text:format(i)))
    for _ = 1, 3 do total = total + f(sum, each) end
  end
  jit.attach(note)
  collect()
  -- A root trace may have kept the first ones.
  return total, count(alive) < 10
end
jit.off(run)

print(run "local sum = ... local s = sum(20) for i = 1, 3 do s = s + sum(i) end return s + %d")
print(run "local sum, each = ... local k = %d return each(20, function(i) return i + k end)")
print(run "local sum, each = ... local s = 0 for i = 1, 5 do s = s + sum(10) + each(4, sum) + %d end return s")
collect()
print(count(alive) < 10)
