-- Slow because line 5 copies the whole text each time.
local function csv(n)
  local text = ""
  for i = 1, n do
    text = text .. i .. ","
  end
  return text
end
local length = 0
for round = 1, tonumber(arg[1] or 3) do length = length + #csv(20000) end
print(length > 0)
