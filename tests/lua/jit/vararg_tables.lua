-- Tables made of arguments and of lists of results: their elements are stored as those of other constructors.

local function pack(...) return {...} end
local function cnt(...) local t = {...} return #t, t[1], t[#t] end
local function sum(...) local s = 0 for _, v in ipairs({...}) do s = s + v end return s end
local function two() return 1, 2 end
local function none() end
local function holes(...) local t = {...} local n = 0 for k, v in pairs(t) do n = n + k end return n, #t end
local acc, keep = 0, {}
for i = 1, 400 do
  local t = pack(i, "x", i % 7 == 0 and nil or i)
  acc = acc + #t + (t[3] or 0)
  if i % 50 == 0 then keep[#keep + 1] = t end
  local n, a, b = cnt(i, i + 1, i + 2, i + 3, i + 4)
  acc = acc + n + a + b
  acc = acc + sum(1, 2, i) + sum() + sum(i)
  local u = {0, two()}
  acc = acc + #u + u[3]
  local w = {none()}
  acc = acc + #w
  local x = {i, i, i, i, two()}
  acc = acc + #x * x[6]
  local h, l = holes(1, nil, 3, nil)
  acc = acc + h
  local m = setmetatable({...}, {__index = function() return 1 end})
  acc = acc + m[9]
  local named = {a = 1, two()}
  acc = acc + named.a + named[2]
  if i == 300 then acc = acc + (cnt(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20)) end
  local nest = {{two()}, pack(two())}
  acc = acc + nest[1][2] + nest[2][1]
end
local out = {}
for _, t in ipairs(keep) do out[#out + 1] = t[1] .. tostring(t[2]) .. tostring(t[3]) .. #t end
print(acc, table.concat(out, " "))
