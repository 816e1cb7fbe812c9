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

-- The same in compiled code, and other steps in the same loops.
local function count(first, last, step)
  local n = 0
  for _ = 1, 50 do
    for _ = first, last, step do n = n + 1 break end
  end
  return n
end
print(count(10, 2, nan), count(10, 2, 1.5), count(10, 2, -1.5), count(2, 10, nan), count(2, 10, 1.5))
print(count(2.5, 10, nan), count(2.5, 10, 0.5), count(10.5, 2, nan), count(10.5, 2, 1))
