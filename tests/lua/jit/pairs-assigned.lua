-- The value of a loop over pairs is assigned and captured: at an exit between the next entry and its first use it is that of this entry.
jit.opt.start("hotloop=56", "hotexit=10")
local function numbers(n)
  local t, fs, sum = {}, {}, 0
  for i = 1, n do t[i] = i % 50 == 0 and i + 0.5 or i end
  for k, v in next, t do
    fs[k] = function() return v end
    v = v + 3
  end
  for k = 1, n do sum = sum + fs[k]() end
  return sum
end
local function names(n)
  local t, fs, long = {}, {}, 0
  for i = 1, n do t["k" .. i] = i % 30 == 0 and i or "v" .. i end
  for k, v in pairs(t) do
    fs[k] = function() return k .. v end
    k, v = k .. "=", v .. ";"
  end
  for i = 1, n do long = long + #fs["k" .. i]() end
  return long
end
for _ = 1, 3 do print(numbers(2000), names(2000)) end
