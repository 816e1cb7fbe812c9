-- A hook throws away the trace that begins at the very instruction it was told of: that still runs, as it was before.
local function scaled(v, n) v = v * 2 return v + n end
local function loops(k)
  local s = 0
  for i = 1, k do s = s + i end
  local j = 0
  while j < k do j = j + 1 s = s - 1 end
  for _, x in pairs { 1, 2, 3 } do s = s + x end
  return s
end
local function varied(...) return select("#", ...) + (...) end

for _, mask in ipairs { "c", "r", "l", "crl" } do
  for round = 1, 4 do
    local sum = 0
    for i = 1, 40 do sum = sum + scaled(i, round) + varied(i, i) + loops(10) end
    debug.sethook(function() jit.flush() end, mask)
    sum = sum + scaled(1, 2) + varied(3, 4, 5) + loops(10)
    debug.sethook()
    sum = sum + scaled(1, 2) + varied(3, 4, 5) + loops(10)
    print(mask, round, sum)
  end
end

-- The same for a hook that counts, and for one that takes itself away.
local total = 0
for round = 1, 30 do
  for i = 1, 30 do total = total + scaled(i, 1) + loops(4) end
  local told = 0
  debug.sethook(function()
    told = told + 1
    jit.flush()
    if told == 5 then debug.sethook() end
  end, round % 2 == 0 and "c" or "", 1 + round % 3)
  total = total + scaled(round, 1) + varied(1, 2) + loops(4)
  debug.sethook()
end
print(total)
