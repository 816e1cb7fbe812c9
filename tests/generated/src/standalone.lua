-- Shows values as the runner does: numbers with all their digits, no addresses.
local function show(...)
  local line = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    local t = type(v)
    if t == "number" then
      if v ~= v then
        v = "nan"
      elseif v == 0 then
        v = 1 / v < 0 and "-0" or "0"
      elseif v % 1 == 0 and v < 1e15 and v > -1e15 then
        v = ("%d"):format(v)
      elseif v == 1 / 0 or v == -1 / 0 then
        v = v > 0 and "inf" or "-inf"
      else
        v = ("%.24e"):format(v)
      end
    elseif t ~= "string" and t ~= "boolean" and t ~= "nil" then
      v = "<" .. t .. ">"
    end
    line[i] = tostring(v)
  end
  return table.concat(line, " ") .. "\n"
end
