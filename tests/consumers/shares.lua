-- Three functions that take 60, 30 and 10 percent of the time.
local function sixty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function thirty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function ten(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
for i = 1, 20000 do sixty(60000) thirty(30000) ten(10000) end
