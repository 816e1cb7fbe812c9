-- strbuild: building strings by concatenation, table.concat, string.format, rep and gsub templates.
-- Stresses: creation and interning of many strings, number to string conversion, garbage.
-- small: 100
local n = tonumber(arg and arg[1]) or 130000

local check, bytes = 0, 0
local function take(text)
  bytes = bytes + #text
  check = (check * 31 + text:byte(1) + text:byte(#text) * 3 + #text) % 1000003
end

local function by_concat(i)
  local text = ""
  for k = 1, 20 do text = text .. k * i % 97 .. "," end
  return text
end

local parts = {}
local function by_table(i)
  for k = 1, 40 do parts[k] = (k * i) % 1000 end
  return table.concat(parts, ";", 1, 40)
end

local function by_format(i)
  return string.format("%05d|%-8s|%8.3f|%x|%q|%c", i, "n" .. i % 10, i / 7, i, "q" .. i % 100, 65 + i % 26)
end

local function by_template(i)
  local values = { name = "user" .. i, count = i % 10, rate = string.format("%.2f", i / 3) }
  local text = ("Dear $name, you have $count messages at $rate per day."):gsub("%$(%w+)", values)
  return text
end

local function by_pieces(i)
  local row = "<tr><td>" .. i .. "</td><td>" .. i * 2 .. "</td><td>" .. ("*"):rep(i % 13) .. "</td></tr>"
  return row:upper() .. row:sub(5, -6):lower()
end

for i = 1, n do
  take(by_concat(i))
  take(by_table(i))
  take(by_format(i))
  take(by_template(i))
  take(by_pieces(i))
end

-- One string that grows for as long as the program runs.
local long = ""
for i = 1, math.min(n, 4000) do long = long .. string.char(97 + i % 26) end
take(long)
print(by_format(123))
print(by_template(5))
print(string.format("bytes %d check %d", bytes, check))
