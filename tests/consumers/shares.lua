-- Three functions that take 60, 30 and 10 percent of the time. A round takes many times as long as there is between samples: of short
-- ones, all of the same length, the same part might be met each time.
local function sixty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function thirty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function ten(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
for _ = 1, 40 do sixty(30000000) thirty(15000000) ten(5000000) end
