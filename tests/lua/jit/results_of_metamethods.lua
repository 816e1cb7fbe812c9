-- A metamethod that is a builtin: its result goes to the variable itself, which had a value at the end of the iteration before.
debug.setmetatable(0, { __index = tonumber })
local function look(by)
  local sum, none, before, v = 0, 0, 0, 0
  for k = 1, 600 do
    if v == "some" then before = before + 1 end
    v = (16 + k % by)[8]
    if v then sum = sum + v v = "some" else none = none + 1 v = k + 0.5 end
  end
  return sum, none, before, v
end
print(look(1)) print(look(4)) print(look(5))
debug.setmetatable(0, nil)
