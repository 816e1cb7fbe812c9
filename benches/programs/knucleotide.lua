-- knucleotide: how often each short word occurs in a random DNA string.
-- Stresses: string.sub, interning of new strings, string keys in growing hash tables, table.sort.
-- small: 400
local n = tonumber(arg and arg[1]) or 800000

local seed = 139
local function random(limit)
  seed = seed * 16807 % 2147483647
  return seed % limit
end

local function dna(length)
  local letters, parts = { "A", "C", "G", "T", "A", "T", "T" }, {}
  for i = 1, length do parts[i] = letters[random(7) + 1] end
  return table.concat(parts)
end

local function words(text, size)
  local counts = {}
  for i = 1, #text - size + 1 do
    local word = text:sub(i, i + size - 1)
    counts[word] = (counts[word] or 0) + 1
  end
  return counts
end

local function report(text, size, most)
  local list = {}
  for word, count in pairs(words(text, size)) do list[#list + 1] = { word = word, count = count } end
  table.sort(list, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    return a.word < b.word
  end)
  print(string.format("%d different words of %d letters", #list, size))
  for i = 1, math.min(most, #list) do
    print(string.format("%s %.3f%%", list[i].word, 100 * list[i].count / (#text - size + 1)))
  end
end

local text = dna(n)
report(text, 1, 4)
report(text, 2, 16)
report(text, 4, 5)
report(text, 8, 5)
local long = words(text, 12)
for _, word in ipairs { "TTTT", "ATTAAT", "GATTACA", "TATATATATATA" } do
  local counts = #word == 12 and long or words(text, #word)
  print(string.format("%d\t%s", counts[word] or 0, word))
end
