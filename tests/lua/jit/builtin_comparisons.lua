-- Builtins as metamethods of comparisons: a trace calls them, and guards the branch that follows.
local function class(mm)
  mm.__index = mm
  return function(n) return setmetatable({ n = n }, mm) end
end
local made = {
  class { __eq = rawequal, __lt = rawequal, __le = rawequal },
  class { __eq = tostring, __lt = tostring, __le = tostring },
  class { __eq = rawlen, __lt = select and type, __le = type },
  class { __lt = next, __le = next },
}
for k, new in ipairs(made) do
  local a, b = new(1), new(2)
  local eq, ne, lt, le, gt, ge, n = 0, 0, 0, 0, 0, 0, 0
  for i = 1, 300 do
    n = n + i % 7
    if a == b then eq = eq + 1 end
    if a ~= b then ne = ne + 1 end
    if k ~= 4 then
      if a < b then lt = lt + 1 end
      if a > b then gt = gt + 1 end
      if a <= b then le = le + 1 end
      if not (a >= b) then ge = ge + 1 end
    end
    if i > 150 then b = i % 2 == 0 and a or new(i) end
  end
  print(k, eq, ne, lt, le, gt, ge, n)
end
-- One that raises an error, in the middle of compiled code.
local bad = class { __lt = math.max, __eq = string.rep }
local a, b = bad(1), bad(2)
for i = 1, 100 do
  local ok, e = pcall(function()
    local s = 0
    for j = 1, 50 do
      s = s + j
      if j == 49 and a < b then s = 0 end
    end
    return s
  end)
  if i == 100 then print(ok, e) end
end
