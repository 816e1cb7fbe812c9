-- patterns: taking a synthetic server log apart with Lua patterns.
-- Stresses: string.find, match, gmatch and gsub with captures, classes, anchors, %b and %f.
-- small: 20
local n = tonumber(arg and arg[1]) or 50000

local METHODS = { "GET", "POST", "PUT", "DELETE" }
local PATHS = { "/index.html", "/api/v1/users", "/static/logo(1).png", "/search", "/a/b/c/d.txt" }

local function line(i)
  return string.format(
    "10.%d.%d.%d - user%d [%02d/Mar/2024:%02d:%02d:%02d] \"%s %s?q=%d&lang=l%d HTTP/1.1\" %d %d (took %d ms (db %d))",
    i % 256, i * 7 % 256, i * 13 % 256, i % 50, i % 28 + 1, i % 24, i % 60, i * 11 % 60,
    METHODS[i % 4 + 1], PATHS[i % 5 + 1], i * 3, i % 9, 200 + i % 5 * 100, i * 37 % 5000, i % 300, i % 20
  )
end

local totals = { bytes = 0, slow = 0, words = 0, upper = 0, digits = 0, nested = 0 }
local by_method, by_status, check = {}, {}, 0

local function count(map, key) map[key] = (map[key] or 0) + 1 end

local function take_apart(text)
  local ip, user, day, method, target, status, size =
    text:match('^(%d+%.%d+%.%d+%.%d+) %S+ (%w+) %[(%d+)/.-%] "(%u+) (%S+) [^"]*" (%d+) (%d+)')
  count(by_method, method)
  count(by_status, status)
  totals.bytes = totals.bytes + tonumber(size)
  for key, value in target:gmatch("([^?&=]+)=([^&=]+)") do
    check = (check * 31 + #key * 7 + (tonumber(value) or #value)) % 1000003
  end
  local octets = 0
  for octet in ip:gmatch("%d+") do octets = octets * 3 + tonumber(octet) end
  check = (check + octets + #user + tonumber(day)) % 1000003
end

local function scan(text)
  local inner = text:match("%b()", text:find("took", 1, true) - 1)
  totals.nested = totals.nested + #inner
  if tonumber(inner:match("took (%d+) ms")) > 150 then totals.slow = totals.slow + 1 end
  for _ in text:gmatch("%f[%a]%a+") do totals.words = totals.words + 1 end
  local _, uppers = text:gsub("%u%u+", "")
  totals.upper = totals.upper + uppers
  local masked, runs = text:gsub("%d+", function(d) return #d > 2 and "#" or "" end)
  totals.digits = totals.digits + runs
  local swapped = masked:gsub("(%a+)/(%a+)", "%2/%1"):gsub("%s+", " ")
  check = (check * 7 + #swapped + (swapped:find("TEG", 1, true) or 0)) % 1000003
end

for i = 1, n do
  local text = line(i)
  take_apart(text)
  scan(text)
end

for _, method in ipairs(METHODS) do io.write(method, " ", by_method[method] or 0, "  ") end
for status = 200, 600, 100 do io.write(status, " ", by_status[tostring(status)] or 0, "  ") end
print()
print(string.format("bytes %d slow %d words %d upper %d digits %d nested %d check %d", totals.bytes, totals.slow,
  totals.words, totals.upper, totals.digits, totals.nested, check))
