-- Strings and numbers turn into each other in hot loops; keys that are equal numbers of different kinds.

-- Arithmetic on numeric strings, sometimes; concatenation of numbers.
local values = { 1, "2", 3.5, "0x10", " 7 ", "1e1" }
local s = 0
for i = 1, 1200 do s = s + values[i % 6 + 1] * 2 - -values[i % 3 + 1] end
print(s)
local len = 0
for i = 1, 1000 do len = len + #(i .. "") + #(i / 2 .. "|" .. i * 1000000) + #(-i .. "" .. 0.1 * i) end
print(len)
local acc = "0"
for i = 1, 500 do acc = acc + i end
print(acc, type(acc))
local fails = 0
for i = 1, 300 do
  local v = i % 10 == 0 and "x" .. i or tostring(i)
  if not pcall(function() return v + 1 end) then fails = fails + 1 end
end
print(fails)

-- tostring and tonumber round trips over integers, fractions, borders.
local bad = 0
for i = -500, 500 do
  if tonumber(tostring(i)) ~= i then bad = bad + 1 end
  if tonumber(tostring(i / 8)) ~= i / 8 then bad = bad + 1 end
  if tonumber(tostring(i * 2 ^ 31)) ~= i * 2 ^ 31 then bad = bad + 1 end
  if tonumber(string.format("%.17g", i / 7)) ~= i / 7 then bad = bad + 1 end
  if tonumber(("%x"):format(i % 256), 16) ~= i % 256 then bad = bad + 1 end
  if tostring(i + 0.0) ~= tostring(i) then bad = bad + 1 end
end
print(bad)
local texts, nums, nils = { "12", "1.5", "abc", "", "0x1f", "1e3", " 8", "9 9", "-4", "+3" }, 0, 0
for i = 1, 1000 do
  local v = tonumber(texts[i % 10 + 1])
  if v then nums = nums + v else nils = nils + 1 end
end
print(nums, nils)

-- Float keys that are integers; integer keys made of divisions; strings that look like numbers are other keys.
local t = {}
for i = 1, 400 do t[i / 2] = i end
local found, frac = 0, 0
for i = 1, 200 do
  found = found + t[i] + t[i * 1.0] + (t[i + 0.5] or 0)
  if t[tostring(i)] ~= nil then frac = frac + 1 end
end
print(found, frac, #t)
local k = {}
for i = 1, 300 do
  k[i] = "n"
  k[i .. ""] = "s"
  k[i * 4 / 4] = k[i] .. "f"
end
local ns, ss = 0, 0
for key, v in pairs(k) do if type(key) == "number" then ns = ns + #v else ss = ss + #v end end
print(ns, ss)

-- Equality and order between kinds of numbers in loops.
local eq, lt = 0, 0
for i = 1, 500 do
  local a, b = i, i * 0.5 * 2
  if a == b then eq = eq + 1 end
  if a ~= b + 0.5 then eq = eq + 1 end
  if a < b + 0.5 and b - 0.5 < a and not (a < b) then lt = lt + 1 end
  if tostring(a) == tostring(b) then eq = eq + 1 end
  if "" .. a == b .. "" then eq = eq + 1 end
  if a == tostring(a) then eq = eq + 1000000 end
end
print(eq, lt)

-- Loop bounds and steps given as strings; arguments of library functions.
local loops = 0
for i = 1, 60 do for j = "1", tostring(i % 10), "1" do loops = loops + j end end
print(loops)
local lib = 0
for i = 1, 300 do
  lib = lib + #string.rep("ab", tostring(i % 5)) + math.max(tostring(i), "7") + ("x"):rep(3.9):len() + string.sub(i * 1001, 1, 1) + math.floor(i .. ".7")
end
print(lib)

-- Truth and selection.
local truthy = 0
local things = { 0, "", "0", 0 / 0, false, {}, print }
for i = 1, 700 do
  local v = things[i % 8 + 1]
  if v then truthy = truthy + 1 end
  local w = v and 1 or 2
  local x = not v
  local y = not not v
  truthy = truthy + w + (x == not y and 0 or 1000000)
end
print(truthy)

-- Booleans as values: stored, compared, printed.
local bools, text = {}, 0
for i = 1, 400 do
  bools[i] = i % 3 == 0
  bools[i] = bools[i] ~= (i % 5 == 0)
  text = text + #tostring(bools[i])
end
local trues = 0
for i = 1, 400 do if bools[i] == true then trues = trues + 1 end end
print(trues, text)
print("ok")
