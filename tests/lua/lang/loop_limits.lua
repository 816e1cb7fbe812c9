-- Loops that do not run at all because no integer reaches their limit, and loops whose step is no number.
local greatest, least = 2147483647, -2147483648
local down, up, near = 0, 0, 0
for _ = 1, 300 do
  for _ = greatest, 1e308, -1 do down = down + 1 break end
end
for _ = 1, 300 do
  for _ = least, -1e10, 1 do up = up + 1 break end
end
for i = 1, 300 do
  for _ = 2^31 - i % 3, 2^53, -1 do near = near + 1 break end
end
print(down, up, near)

local nan = 0 / 0
for i = 10, 2, nan do print("down", i) end
for i = 2, 10, nan do print("up", i) end
for i = nan, 2, 1 do print("from nan", i) end
for i = 1, nan, -1 do print("to nan", i) end
