-- sieve: the sieve of Eratosthenes, over and over, on a table of booleans.
-- Stresses: array writes with a stride, type-stable stores of booleans, filling and refilling a table.
-- small: 1
local n = tonumber(arg and arg[1]) or 400

local LIMIT = 300000

local function sieve(flags, limit)
  for i = 2, limit do flags[i] = true end
  local i = 2
  while i * i <= limit do
    if flags[i] then
      for j = i * i, limit, i do flags[j] = false end
    end
    i = i + 1
  end
  local count, last = 0, 0
  for k = 2, limit do
    if flags[k] then
      count = count + 1
      last = k
    end
  end
  return count, last
end

local flags, total = {}, 0
for round = 1, n do
  local count, last = sieve(flags, LIMIT - round)
  total = (total * 3 + count + last) % 1000000007
end
print(string.format("primes below %d: %d", LIMIT, (sieve({}, LIMIT))))
print(string.format("check %d", total))
