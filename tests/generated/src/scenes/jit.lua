--- off_function 90
local function f(n) local s = 0 for i = 1, n do s = s + i end return s end
for i = 1, $t do
  C(f($(5|12)))
  if i == $(2|3) then jit.off(f$(|, true)) elseif i == $(5|6) then jit.on(f$(|, true)) end
end
--- flush 100
local function f(n) local s = 0 for i = 1, n do s = s + i % $k
  if i == 7 then jit.flush() end end return s end
for i = 1, $t do C(f($(5|12))) if i % $(2|3) == 0 then jit.flush($(|f|f, true|$k)) end end
--- off_on 100
local s = 0
for i = 1, 20 do
  s = s + i
  if i == $(5|6) then jit.off() elseif i == $(9|12) then jit.on() end
end
jit.on()
P(s)
--- off_here 70
local function f(n) $(jit.off(true)|jit.off(true, true)|jit.on(true)) local s = 0 for i = 1, n do s = s + i end return s end
for i = 1, $t do C(f(8)) end
--- options 100
local s = 0
for i = 1, 15 do
  for j = 1, 4 do s = s + j end
  if i == $(3|6) then jit.opt.start($("hotloop=2"|"hotexit=1"|"-$(fold|cse|dce|fwd|dse|narrow|loop|abc|sink|fuse)"|"2"|"3"|"maxtrace=3"|"hotloop=5", "hotexit=2")) end
end
P(s)
--- flush_in_callback 100
local t = {5, 2, 8, 1}
for i = 1, $(3|6) do
  table.sort(t, function(a, b) if a == 8 then jit.flush() end return a < b end)
  C((("abc"):gsub("%w", function(c) $(jit.flush()|jit.off() jit.on()|) return c .. i end)))
end
P(t[1], t[4])
--- flush_in_metamethod 90
local o = setmetatable({}, {__index = function(_, k) if k == $k then jit.flush() end return k end})
local s = 0
for i = 1, 15 do s = s + o[i] end
P(s)
--- flush_in_coroutine 90
local co = coroutine.wrap(function() for i = 1, 20 do if i == $k then jit.flush() end coroutine.yield(i) end end)
local s = 0
for i = 1, 15 do s = s + co() end
P(s)
--- attach 100 perilune
local n = 0
local function watch(what) n = n + 1 end
jit.attach(watch, $("trace"|"bc"|"texit"|"record"))
local s = 0
for i = 1, $(10|20) do s = s + i
  local f = loadstring("return 1") s = s + f() end
jit.attach(watch)
P(s)
--- status 30 perilune
local ok = pcall(function() for i = 1, $t do jit.status() jit.util.traceinfo(1) jit.util.funcinfo(1 == 1 and print) end end)
P(ok)
