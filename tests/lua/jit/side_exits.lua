-- Hot loops whose branches become hot one after the other.

-- One rare branch, then the common one turns rare.
local a, b = 0, 0
for i = 1, 3000 do
  if i < 1500 then
    if i % 10 == 0 then b = b + i else a = a + 1 end
  else
    if i % 10 == 0 then a = a + i else b = b + 1 end
  end
end
print(a, b)

-- Many branches by value.
local counts = {}
for k = 0, 9 do counts[k] = 0 end
local x = 7
for i = 1, 5000 do
  x = (x * 37 + 11) % 101
  local k = x % 10
  if k == 0 then counts[0] = counts[0] + 1
  elseif k == 1 then counts[1] = counts[1] + 2
  elseif k == 2 then counts[2] = counts[2] + x
  elseif k == 3 then counts[3] = counts[3] - 1
  elseif k == 4 then counts[4] = counts[4] + i % 3
  elseif k == 5 then counts[5] = counts[5] + 0.5
  elseif k == 6 then counts[6] = -counts[6] + 1
  elseif k == 7 then counts[7] = counts[7] + #tostring(x)
  elseif k == 8 then counts[8] = counts[8] + (i > 2500 and 1 or 0)
  else counts[9] = counts[9] + 1 end
end
print(counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6], counts[7], counts[8], counts[9])

-- Branches on branches: a tree of exits.
local leaves = {}
for i = 1, 4096 do
  local n = 1
  if i % 2 == 0 then n = n * 2 if i % 3 == 0 then n = n * 3 if i % 5 == 0 then n = n * 5 else n = n + 1 end else n = n - 1 end
  else n = n + 10 if i % 7 == 0 then n = n * 7 if i % 11 == 0 then n = n + 100 end else n = n * 2 end end
  leaves[n] = (leaves[n] or 0) + 1
end
local keys = {}
for n in pairs(leaves) do keys[#keys + 1] = n end
table.sort(keys)
for i, n in ipairs(keys) do keys[i] = n .. "x" .. leaves[n] end
print(table.concat(keys, " "))

-- Values of many locals must be right at each exit.
local function many(n)
  local p, q, r, s, t, u = 1, 2, 3, 4, 5, 6
  local name = "n"
  for i = 1, n do
    p = p + i
    q = q + p % 7
    if q % 5 == 0 then
      r, s = s, r + 1
      if r % 3 == 0 then t = t + s elseif t > 50 then t, u = 0, u + 1 end
    elseif q % 5 == 1 then
      u = u + 0.5
      name = name == "n" and "m" or "n"
    end
    if u > 100 then u = -u end
  end
  return p, q, r, s, t, u, name
end
for _, n in ipairs { 10, 57, 100, 1000, 5000 } do print(n, many(n)) end

-- Exits out of and and or, and out of comparisons used as values.
local flags = 0
for i = 1, 2000 do
  local y = i % 13
  local z = (y < 3 and 1 or y > 9 and 2) or (y == 5 and 4 or 8)
  local same = (y == i % 7) == (i % 2 == 0)
  flags = flags + z + (same and 16 or 0) + ((y ~= 1 and y ~= 2 or i > 1000) and 32 or 0)
end
print(flags)

-- The exit happens in an inlined function, at several depths.
local function leaf(v, limit) if v > limit then return v - limit end return v end
local function mid(v) local w = leaf(v, 50) if w == 7 then return 0 end return leaf(w, 25) + 1 end
local function top(v) return mid(v) * 2 + mid(v + 3) end
local sum = 0
for i = 1, 3000 do sum = (sum + top(i % 77)) % 1000003 end
print(sum)

-- A branch that becomes true for ever.
local phase, log = "start", {}
for i = 1, 1200 do
  if phase == "start" then
    if i > 300 then phase = "middle" log[#log + 1] = i end
  elseif phase == "middle" then
    if i > 700 then phase = "end" log[#log + 1] = i end
  elseif i % 250 == 0 then
    log[#log + 1] = i
  end
end
print(phase, table.concat(log, " "))
print("ok")
