-- Handlers of events run above all arguments of a vararg function that is about to run, however many there are.
local function busy(...) local a, b, c, d, e, f, g = 1, 2, 3, 4, 5, 6, 7 return tostring(a) .. tostring(g) end
jit.attach(function(...) busy(...) end, "record")
jit.attach(function(...) busy(...) end, "trace")
jit.attach(function(...) busy(...) end, "texit")
jit.opt.start("hotloop=2", "hotexit=1")
local function sum(...) local s = 0 for i = 1, select("#", ...) do s = s + (select(i, ...)) end return s end
local function last(...) return (select(-1, ...)) end
local function all(...) return ... end
for i = 1, 50 do
  local s = sum(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30)
  assert(s == 465, s)
  local l = last(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30)
  assert(l == 30, tostring(l))
  assert(select("#", all(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30)) == 30)
  local x = {all(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30)}
  for j = 1, 30 do assert(x[j] == j, j) end
end
print "ok"
