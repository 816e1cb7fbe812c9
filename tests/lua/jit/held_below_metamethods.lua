-- A variable that is not read any more is forgotten at the call of a builtin, and counts as read below the call of a metamethod.
local Class = setmetatable({}, { __index = function(_, k) return k end })
local count = 0
local words = { "x", "y" }
local function f(i)
  local unused = {}
  local word = ("a,b"):match("[^,]*")
  local o = setmetatable({ word }, { __index = function(t, k) if i == 50 then return word .. k .. count end return Class[k] or 1 end })
  local s = words[i % 7 + 1] or o.z
  count = count + 1
  return s .. word
end
local last
for i = 1, 60 do last = f(i) end
print(last, count)
