-- A loop over pairs ends in a trace that is left because it did not end: the key and the value of the next entry are in their slots by then.
-- With other thresholds the exit leads elsewhere.
jit.opt.start("hotloop=56", "hotexit=10")
local values = {}
for i = 1, 12 do values[i] = "s" .. i end
local function last()
  local a, c, t = 0, 0, {}
  for j, v in pairs(values) do
    t.f = a
    local k = 0
    while k < 20 do
      k = k + 1
      if k == c then c = v end
    end
    a = v
  end
  return t.f, a
end
local function keys(t)
  local before, now = 0, 0
  for k in next, t do
    for i = 1, 30 do now = now + i % 2 end
    before = k
    now = now + before
  end
  return before, now
end
local seen = {}
for i = 1, 3000 do
  local x, y = last()
  local b, n = keys(values)
  local s = x .. y .. b .. n
  seen[s] = (seen[s] or 0) + 1
end
for s, n in pairs(seen) do print(s, n) end
