-- Statistics of a series that a few outliers do not move.
local statistics = {}

function statistics.median(list)
  local sorted = {}
  for i, v in ipairs(list) do sorted[i] = v end
  table.sort(sorted)
  local n = #sorted
  if n == 0 then return 0 / 0 end
  return (sorted[math.floor((n + 1) / 2)] + sorted[math.ceil((n + 1) / 2)]) / 2
end

-- The median of the slopes between any two values (Theil and Sen): what the series grows by from one to the next.
function statistics.slope(list)
  local slopes = {}
  for i = 1, #list do
    for j = i + 1, #list do slopes[#slopes + 1] = (list[j] - list[i]) / (j - i) end
  end
  return #slopes == 0 and 0 or statistics.median(slopes)
end

-- The medians of the first and the last third.
function statistics.ends(list)
  local third = math.max(math.floor(#list / 3), 1)
  local first, last = {}, {}
  for i = 1, third do first[i], last[i] = list[i], list[#list - third + i] end
  return statistics.median(first), statistics.median(last)
end

return statistics
