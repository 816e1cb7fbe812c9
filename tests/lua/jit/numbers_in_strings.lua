-- Numbers become part of a string without being one: by themselves, at either end, beside others; where their text is needed
-- elsewhere, too; and in a loop that is left in between.
local function small(n)
  local out = {}
  for i = 1, n do out[#out + 1] = "i" .. i end
  return table.concat(out, " ", n - 3, n)
end
print(small(200))

local function mixed(n)
  local last
  for i = -n, n do last = i .. "," .. i * 0.5 .. "," .. i / 3 .. ";" .. -i end
  return last
end
print(mixed(150))

local function extremes(list, n)
  local out = {}
  for i = 1, n do
    local x = list[i % #list + 1]
    out[i % #list + 1] = "<" .. x .. "|" .. x * 2 .. ">"
  end
  return table.concat(out, " ")
end
print(extremes({ 0.0, -0.0, 1e14, 1e15, 1e100, 5e-324, 1 / 0, -1 / 0, 2 ^ 53, 123456.789, 1e-5, 1e-4 }, 600))
print((extremes({ 0 / 0, 1 }, 300):gsub("%-nan", "nan")))
print(extremes({ 2147483647, -2147483648, 1073741823, 0, -1, 7 }, 600))

-- The text is used twice, and kept.
local function kept(n)
  local seen, long = {}, 0
  for i = 1, n do
    local s = tostring(i)
    local t = s .. "-" .. s .. "-" .. i
    seen[s] = t
    long = long + #t
  end
  return long, seen["77"], seen["160"]
end
print(kept(200))

-- An exit after the string: it is one of what the exit stores.
local function left(n)
  local all = {}
  for i = 1, n do
    local s = i .. "/" .. i * 1.25
    if i % 50 == 0 then all[#all + 1] = s end
  end
  return table.concat(all, " ")
end
print(left(200))

-- The number's own text does not change in the loop.
local function invariant(x, n)
  local s = ""
  for i = 1, n do s = x .. ":" .. i end
  return s
end
print(invariant(0.1, 200), invariant(12, 200))

-- `tostring` and characters between them.
local function texts(n)
  local s
  for i = 1, n do s = tostring(i) .. string.char(65 + i % 26) .. tostring(i / 4) .. tostring(i % 2 == 0) end
  return s
end
print(texts(201))
