-- json: a JSON encoder and decoder, used on a growing document again and again.
-- Stresses: string.find with anchored patterns, string.sub and byte, string building, recursive tables, gsub callbacks.
-- small: 3
local n = tonumber(arg and arg[1]) or 1200

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }
local UNESCAPES = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f", ["/"] = "/", ["\\"] = "\\", ['"'] = '"' }

local null = {}

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ESCAPES[c] or string.format("\\u%04x", c:byte()) end) .. '"'
end

local encode_value

local function encode_array(list, out)
  out[#out + 1] = "["
  for i = 1, #list do
    if i > 1 then out[#out + 1] = "," end
    encode_value(list[i], out)
  end
  out[#out + 1] = "]"
end

local function encode_object(object, out)
  local keys = {}
  for key in pairs(object) do keys[#keys + 1] = key end
  table.sort(keys)
  out[#out + 1] = "{"
  for i, key in ipairs(keys) do
    if i > 1 then out[#out + 1] = "," end
    out[#out + 1] = quote(key)
    out[#out + 1] = ":"
    encode_value(object[key], out)
  end
  out[#out + 1] = "}"
end

function encode_value(value, out)
  local kind = type(value)
  if value == null then
    out[#out + 1] = "null"
  elseif kind == "table" then
    if #value > 0 then encode_array(value, out) else encode_object(value, out) end
  elseif kind == "string" then
    out[#out + 1] = quote(value)
  elseif kind == "number" then
    out[#out + 1] = string.format("%.10g", value)
  else
    out[#out + 1] = tostring(value)
  end
end

local function encode(value)
  local out = {}
  encode_value(value, out)
  return table.concat(out)
end

local decode_value

local function skip(text, at) return text:find("[^ \n\t\r]", at) or #text + 1 end

local function fail(text, at, what) error(what .. " expected at " .. at .. " near " .. text:sub(at, at + 10)) end

local function decode_string(text, at)
  local parts, from = {}, at + 1
  while true do
    local stop = text:find('["\\]', from)
    if not stop then fail(text, at, "end of string") end
    parts[#parts + 1] = text:sub(from, stop - 1)
    if text:byte(stop) == 34 then return table.concat(parts), stop + 1 end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      parts[#parts + 1] = string.char(tonumber(text:sub(stop + 2, stop + 5), 16) % 256)
      from = stop + 6
    else
      parts[#parts + 1] = UNESCAPES[letter] or fail(text, stop, "escape")
      from = stop + 2
    end
  end
end

local function decode_array(text, at)
  local list, count = {}, 0
  at = skip(text, at + 1)
  if text:byte(at) == 93 then return list, at + 1 end
  while true do
    count = count + 1
    list[count], at = decode_value(text, at)
    at = skip(text, at)
    local c = text:byte(at)
    if c == 93 then return list, at + 1 end
    if c ~= 44 then fail(text, at, "comma") end
    at = skip(text, at + 1)
  end
end

local function decode_object(text, at)
  local object = {}
  at = skip(text, at + 1)
  if text:byte(at) == 125 then return object, at + 1 end
  while true do
    local key
    key, at = decode_string(text, at)
    at = skip(text, at)
    if text:byte(at) ~= 58 then fail(text, at, "colon") end
    object[key], at = decode_value(text, skip(text, at + 1))
    at = skip(text, at)
    local c = text:byte(at)
    if c == 125 then return object, at + 1 end
    if c ~= 44 then fail(text, at, "comma") end
    at = skip(text, at + 1)
  end
end

function decode_value(text, at)
  local c = text:byte(at)
  if c == 123 then return decode_object(text, at) end
  if c == 91 then return decode_array(text, at) end
  if c == 34 then return decode_string(text, at) end
  if text:find("^true", at) then return true, at + 4 end
  if text:find("^false", at) then return false, at + 5 end
  if text:find("^null", at) then return null, at + 4 end
  local _, stop = text:find("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  if not stop then fail(text, at, "value") end
  return tonumber(text:sub(at, stop)), stop + 1
end

local function decode(text)
  local value, at = decode_value(text, skip(text, 1))
  if skip(text, at) <= #text then fail(text, at, "end") end
  return value
end

local function record(i)
  return {
    id = i,
    name = "item " .. i .. (i % 3 == 0 and ' "quoted"\n' or ""),
    price = i * 1.25,
    tags = { "red", "green", i % 2 == 0 and "blue" or "a\\b", "tab\there" },
    active = i % 4 ~= 0,
    parent = i % 5 == 0 and null or i - 1,
    nested = { depth = { depth = { depth = i % 7 } }, empty = {}, list = { 1, 2.5, -3, 4e10, 0.001 } },
  }
end

local check, bytes = 0, 0
for round = 1, n do
  local document = {}
  for i = 1, 20 do document[i] = record(round * 20 + i) end
  local text = encode(document)
  local again = encode(decode(text))
  assert(text == again)
  bytes = bytes + #text
  for i = 1, #text, 50 do check = (check * 3 + text:byte(i)) % 1000003 end
end
print(encode(record(15)))
print(string.format("bytes %d check %d", bytes, check))
