-- floor(x / y) and x % y of the same ints share a division, in either order, with every sign.
local floor = math.floor

local function digits(n)
  local a, len, s = {}, n + 9, ""
  for i = 1, len do a[i] = 1 end
  for d = 1, n do
    local q = 0
    for i = len, 1, -1 do
      local x = a[i] * 10 + q
      a[i] = x % (i + 1)
      q = floor(x / (i + 1))
    end
    s = s .. q
  end
  return s
end
print(digits(60))

local function remainder_first(from, to, y)
  local sum, mixed = 0, 0
  for x = from, to do
    local r = x % y
    local q = floor(x / y)
    if q * y + r ~= x then error(x .. " " .. y) end
    sum, mixed = sum + q, (mixed * 3 + r) % 1000003
  end
  return sum, mixed
end
local function quotient_first(from, to, y)
  local sum, mixed = 0, 0
  for x = from, to do
    local q = floor(x / y)
    local r = x % y
    if q * y + r ~= x then error(x .. " " .. y) end
    sum, mixed = sum + q, (mixed * 3 + r) % 1000003
  end
  return sum, mixed
end
for _, y in ipairs { 1, 3, 7, 10, 4096, 2147483647, -1, -3, -10, -2147483648 } do
  print(y, remainder_first(-500, 500, y))
  print(y, quotient_first(-500, 500, y))
end
print(remainder_first(2147483000, 2147483646, 7))
print(quotient_first(-2147483648, -2147483000, 10))

-- The divisor changes, and is 0 in the end: the quotient is infinite then, the remainder NaN.
local function falling(x, y)
  local t = {}
  while y >= 0 do
    local r, q = x % y, floor(x / y)
    t[#t + 1] = r == r and r + q or "nan"
    y = y - 1
  end
  return t[1], t[50], t[#t - 1], t[#t], #t
end
print(falling(1000, 200))
print(falling(-1000, 200))

-- Both are only used after the loop.
local function last(n, y)
  local q, r
  for x = 1, n do r = x % y q = floor(x / y) end
  return q, r
end
print(last(300, 7), last(301, 11))

-- A divisor that does not change in the loop, and one that does.
local function remainders(from, to, y)
  local sum, mixed = 0, 0
  for x = from, to do
    local r = x % y
    sum, mixed = sum + r, (mixed * 5 + r) % 1000003
  end
  return sum, mixed
end
for _, y in ipairs { 1, 2, 3, 7, 64, 1000, 65537, 1000000007, 2147483646, 2147483647, -1, -7, -2147483648 } do
  local t = {}
  for _, from in ipairs { -2147483648, -200, -100, 0, 2147483447 } do
    local a, b = remainders(from, from + 199, y)
    t[#t + 1] = a .. "/" .. b
  end
  print(y, table.concat(t, " "))
end
local function changing(n, y)
  local s = 0
  for x = 1, n do
    s = s * 3 % 1000003 + x % y
    if x % 50 == 0 then y = y + 3 end
  end
  return s
end
print(changing(400, 5), changing(400, 1))
local hash = { size = 37 }
local function field(n)
  local s = 0
  for i = 1, n do s = s + i * 31 % hash.size end
  return s
end
print(field(300))
