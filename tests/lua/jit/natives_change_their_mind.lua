local n, t, s = 0, { x = 0 }, 0
local plain, meta = {}, setmetatable({}, { __tostring = function() n = n + 1; t.x = t.x + 1; return "m" end })
for i = 1, 400 do
  local a, b = n, t.x
  local str = string.format("%s", i % 10 == 0 and i > 200 and meta or i)
  s = s + #str + (n - a) * 100 + (t.x - b) * 1000
end
print(n, t.x, s)
local function id(c) return c end
local function cb(c) n = n + 1; t.x = t.x + 2; return c end
local reps = { "z", cb, { b = "q" }, id }
for i = 1, 400 do
  local a, b = n, t.x
  local str = string.gsub("abc", "b", i < 150 and "z" or reps[i % 4 + 1])
  s = s + #str + (n - a) * 100 + (t.x - b) * 1000
end
print(n, t.x, s)
local keys = setmetatable({}, { __index = function(_, k) n = n + 1; t.x = -n; return k end })
local sub = { b = "B" }
for i = 1, 400 do
  local a, b = n, t.x
  local str = string.gsub("abc", "b", (i > 200 and i % 3 == 0) and keys or sub)
  s = s + #str + (n - a) * 100 + (t.x - b)
end
print(n, t.x, s)
