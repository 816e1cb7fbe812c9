-- Loops of one or two iterations that have traces of their own: side traces of other loops follow them, and those of more iterations end there.
jit.opt.start("hotloop=2", "hotexit=1")

-- By the length of the kernel, which changes from call to call, the inner loop has one to seven iterations.
local function convolve(list, n, kernel)
  local out = {}
  for x = 1, 12 do
    local sum = 0
    for i = 1, n do
      local value = list[x + i - 1]
      if value then sum = sum + value * kernel[i] end
    end
    out[x] = sum
  end
  return out
end
local list = {}
for i = 1, 20 do list[i] = i end
local kernels = { { 1 }, { 1, 2, 3 }, { 1, 2 }, { 2, 1, 3, 4, 5, 6, 7 } }
local total, log = 0, {}
for k = 1, 40 do
  local kernel = kernels[k % 4 + 1]
  local out = convolve(list, #kernel, kernel)
  for i = 1, #out do total = total + out[i] * i end
  log[k] = total
end
print(table.concat(log, " "))

-- Handlers by event, one or two of each, and lists that grow while they are used.
local function emit(handlers, ...)
  local n = 0
  for i = 1, #handlers do
    if handlers[i](...) then n = n + 1 end
  end
  return n
end
local function visit(handlers, x)
  local n = 0
  for i, f in ipairs(handlers) do n = n * 3 + i + (f(x) and 1 or 0) end
  return n
end
local state = { a = 0, b = 0, x = 0, y = 0 }
local lists = {
  { function(d) state.a = state.a + d return true end, function() state.b = state.b + 1 return state.b % 2 == 0 end },
  { function(k) state[k == 1 and "x" or "y"] = state.x + 1 return k end },
  { function(x, y) state.a = state.a + (y or 1) end, function(x) state.b = state.b + x return x > 3 end },
}
local n = 0
for r = 1, 400 do
  n = n + emit(lists[1], r % 3 == 0 and 0.5 or 1) + emit(lists[2], r % 2) + emit(lists[3], r % 7, r % 4 == 0 and 2.5 or nil)
  n = (n + visit(lists[r % 3 + 1], r % 5)) % 1000003
  if r == 200 then lists[2][2] = function(k) return k == 0 end end
  if r == 300 then lists[3][3] = function() state.y = state.y + 1 return true end end
end
print(n, state.a, state.b, state.x, state.y)
