-- Counted loops at both ends of the integers, some entered again by side traces: where a chunk of iterations ends is computed without overflow.
local function up(a, b) local n, last = 0, nil for i = a, b do n = n + 1 last = i end return n, last end
local function down(a, b) local n, last = 0, nil for i = a, b, -1 do n = n + 1 last = i end return n, last end
local function up7(a, b) local n, last = 0, nil for i = a, b, 7 do n = n + 1 last = i if i % 21 == 0 then n = n + 100 end end return n, last end
local function down7(a, b) local n, last = 0, nil for i = a, b, -7 do n = n + 1 last = i if i % 21 == 0 then n = n + 100 end end return n, last end
local function any(a, b, s) local n, last = 0, nil for i = a, b, s do n = n + 1 last = i if i % 3 == 0 then n = n + 10 end end return n, last end
local min, max = -2^31, 2^31 - 1
for r = 1, 3 do
  print(up(min, min + 10), up(min, min + 1e6), up(max - 1000, max - 1), up(max - 1e6, max - 10))
  print(down(max, max - 10), down(max, max - 1e6), down(min + 1000, min + 1), down(min + 1e6, min + 10))
  print(up7(min, min + 100), up7(min + 3, min + 4e6), up7(max - 3000, max - 10), up7(max - 7e6, max - 10))
  print(down7(max, max - 100), down7(max - 3, max - 4e6), down7(min + 3000, min + 10), down7(min + 7e6, min + 10))
  for _, s in ipairs { 1, 3, 1e6, 1e9, 2^31 - 1 } do
    print(any(min, min + 3e5, s), any(max - 3e5, max - 10, s), any(min + 3e5, min + 10, -s), any(max, max - 3e5, -s), any(-5, 5, s), any(5, -5, -s))
    if s >= 1e6 then print(any(min, max - 1e9, s), any(max, min + 1e9, -s)) end
  end
end
