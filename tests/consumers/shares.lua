-- Three functions that take about 60, 30 and 10 percent of the time, and what they really took: loops that are the same need not be equally
-- fast where they lie in memory. A round takes many times as long as there is between samples: of short ones, all of the same length, the
-- same part might be met each time.
local function sixty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function thirty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function ten(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local took, all = {}, 0
local function timed(name, f, n)
  local begun = os.clock()
  f(n)
  local seconds = os.clock() - begun
  took[name], all = (took[name] or 0) + seconds, all + seconds
end
for _ = 1, 40 do timed("sixty", sixty, 30000000) timed("thirty", thirty, 15000000) timed("ten", ten, 5000000) end
for _, name in ipairs { "sixty", "thirty", "ten" } do print(name, took[name] / all * 100) end
