-- fasta: random DNA by cumulative frequencies, broken into lines; prints a checksum of the text.
-- Stresses: table lookups with early exit, string building line by line, string.byte over many lines.
-- small: 600
local n = tonumber(arg and arg[1]) or 3000000

local WIDTH = 60

local seed = 42
local function random()
  seed = (seed * 3877 + 29573) % 139968
  return seed / 139968
end

local function cumulative(frequencies)
  local table_, sum = {}, 0
  for _, f in ipairs(frequencies) do
    sum = sum + f[2]
    table_[#table_ + 1] = { letter = f[1], below = sum }
  end
  table_[#table_].below = 1
  return table_
end

local check, lines, bytes = 0, 0, 0
local function emit(line)
  lines = lines + 1
  bytes = bytes + #line + 1
  check = (check * 31 + line:byte(1) * 7 + line:byte(#line) + #line) % 1000003
end

local function pick(choices)
  local r = random()
  for i = 1, #choices do
    if r < choices[i].below then return choices[i].letter end
  end
end

local function random_lines(choices, count)
  local line = {}
  while count > 0 do
    local width = math.min(WIDTH, count)
    for i = 1, width do line[i] = pick(choices) end
    emit(table.concat(line, "", 1, width))
    count = count - width
  end
end

local function repeat_lines(text, count)
  local doubled, at, length = text .. text:sub(1, WIDTH), 1, #text
  while count > 0 do
    local width = math.min(WIDTH, count)
    emit(doubled:sub(at, at + width - 1))
    at = at + width
    if at > length then at = at - length end
    count = count - width
  end
end

local alu = "GGCCGATTACAGGTTTACCAGTCGAACGTTAGCATCGGGATCCATTGACGTACGTGGCATTACGGATCCAAGTCTAGCTTAGCAA"
local common = cumulative { { "a", 0.30 }, { "c", 0.20 }, { "g", 0.20 }, { "t", 0.27 }, { "n", 0.03 } }
local wide = cumulative {
  { "a", 0.27 }, { "c", 0.12 }, { "g", 0.12 }, { "t", 0.27 }, { "B", 0.02 }, { "D", 0.02 }, { "H", 0.02 },
  { "K", 0.02 }, { "M", 0.02 }, { "N", 0.02 }, { "R", 0.02 }, { "S", 0.02 }, { "V", 0.02 }, { "W", 0.02 }, { "Y", 0.02 },
}
repeat_lines(alu, 2 * n)
print(string.format("repeated lines %d bytes %d check %d", lines, bytes, check))
random_lines(common, 3 * n)
print(string.format("common   lines %d bytes %d check %d", lines, bytes, check))
random_lines(wide, 2 * n)
print(string.format("wide     lines %d bytes %d check %d", lines, bytes, check))
