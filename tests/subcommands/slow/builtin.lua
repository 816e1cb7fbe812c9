-- Slow because collectgarbage in line 6 is not compiled: the trace ends before it, and the interpreter makes the call.
local function measure(words)
  local most = 0
  for i = 1, #words do
    local text = words[i] .. "!"
    local used = collectgarbage("count")
    if used > most then most = used end
  end
  return most
end
local words = {}
for i = 1, 1000 do words[i] = "word " .. i end
local most = 0
for round = 1, tonumber(arg[1] or 1000) do most = math.max(most, measure(words)) end
print(most > 0)
