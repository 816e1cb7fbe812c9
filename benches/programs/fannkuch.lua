-- fannkuch: for every permutation of 1..n, how many prefix reversals bring 1 to the front.
-- Stresses: integer work on a short array, data-dependent swaps, loops with small trip counts.
-- small: 6
local n = tonumber(arg and arg[1]) or 10

-- Visits the permutations by rotating prefixes; returns the checksum and the largest number of flips.
local function fannkuch(size)
  local perm, work, count = {}, {}, {}
  for i = 1, size do
    perm[i], work[i], count[i] = i, 0, i
  end
  local checksum, most, sign = 0, 0, 1
  while true do
    local first = perm[1]
    if first ~= 1 then
      for i = 2, size do work[i] = perm[i] end
      local flips = 0
      repeat
        flips = flips + 1
        local nextfirst = work[first]
        work[first] = first
        local lo, hi = 2, first - 1
        while lo < hi do
          work[lo], work[hi] = work[hi], work[lo]
          lo = lo + 1
          hi = hi - 1
        end
        first = nextfirst
      until first == 1
      if flips > most then most = flips end
      checksum = checksum + sign * flips
    end
    if sign == 1 then
      perm[1], perm[2] = perm[2], perm[1]
      sign = -1
    else
      perm[2], perm[3] = perm[3], perm[2]
      sign = 1
      local i = 3
      while true do
        count[i] = count[i] - 1
        if count[i] ~= 0 then break end
        if i == size then return checksum, most end
        count[i] = i
        local head = perm[1]
        for j = 1, i do perm[j] = perm[j + 1] end
        i = i + 1
        perm[i] = head
      end
    end
  end
end

local checksum, most = fannkuch(n)
print(string.format("%d\nflips of %d: %d", checksum, n, most))
