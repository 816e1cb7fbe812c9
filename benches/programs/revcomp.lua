-- revcomp: the reverse complement of DNA, in three ways that must agree.
-- Stresses: string.reverse, gsub with a table, byte by byte copies, string.char with many arguments.
-- small: 1
local n = tonumber(arg and arg[1]) or 160

local LENGTH = 40000
local unpack = unpack or table.unpack

local PAIRS = { A = "T", T = "A", C = "G", G = "C", N = "N" }

local seed = 5
local function dna(length)
  local letters, parts = { "A", "C", "G", "T", "N" }, {}
  for i = 1, length do
    seed = seed * 16807 % 2147483647
    parts[i] = letters[seed % 5 + 1]
  end
  return table.concat(parts)
end

local function by_gsub(text) return (text:reverse():gsub("%a", PAIRS)) end

local function by_letters(text)
  local out = {}
  for i = #text, 1, -1 do out[#out + 1] = PAIRS[text:sub(i, i)] end
  return table.concat(out)
end

local BYTES = {}
for letter, other in pairs(PAIRS) do BYTES[letter:byte()] = other:byte() end

local function by_bytes(text)
  local parts, chunk = {}, {}
  for last = #text, 1, -100 do
    local size = 0
    for i = last, math.max(1, last - 99), -1 do
      size = size + 1
      chunk[size] = BYTES[text:byte(i)]
    end
    parts[#parts + 1] = string.char(unpack(chunk, 1, size))
  end
  return table.concat(parts)
end

local check = 0
for _ = 1, n do
  local text = dna(LENGTH)
  local a, b, c = by_gsub(text), by_letters(text), by_bytes(text)
  assert(a == b and b == c)
  assert(by_gsub(a) == text)
  for i = 1, #a, 97 do check = (check * 5 + a:byte(i)) % 1000003 end
end
print(string.format("check %d", check))
