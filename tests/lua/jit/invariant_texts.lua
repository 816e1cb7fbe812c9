-- Texts whose parts do not change in a loop are made once, and texts of constants when the loop is recorded. What changes is made each time.
local function fields(kind, n)
  local object = { kind = kind, on_bar = 1, on_baz = 2, count = 0 }
  local s = 0
  for i = 1, n do
    s = s + object["on_" .. object.kind]
    if i == n / 2 then object.kind = kind == "bar" and "baz" or "bar" end
    object["co" .. "unt"] = object["co" .. "unt"] + 1
  end
  return s, object.count
end
print(fields("bar", 400))
print(fields("baz", 400))

-- Several parts, numbers among them; the same text in turns with others; nested ones.
local function texts(a, b, n)
  local last, length = "", 0
  for i = 1, n do
    local fixed = a .. 1 .. b .. 2.5
    local varied = a .. i .. b
    last = fixed .. varied .. ("<" .. a .. ">"):upper() .. a:rep(2) .. b:reverse()
    length = length + #last + #fixed
  end
  return last, length
end
print(texts("x", "yz", 300))
print(texts("", "", 300))

-- Accessors that make the name of a field of another name.
local Property = {}
function Property.__index(o, k)
  local v = rawget(o, "_" .. k)
  if v ~= nil then return v end
  return Property[k]
end
function Property.__newindex(o, k, v) rawset(o, "_" .. k, v) end
function Property:sum() return self.a + self.b end
local o, s = setmetatable({ _a = 1, _b = 2 }, Property), 0
for i = 1, 500 do
  o.a = i
  o.b = o.a + 1
  s = s + o:sum()
end
print(s, rawget(o, "a"), rawget(o, "_a"), rawget(o, "_b"))

-- Collections in between: the text is made of strings that only the trace refers to.
local words, n = { "al", "pha" }, 0
for i = 1, 300 do
  local w = words[1] .. words[2]
  if w == "alpha" then n = n + 1 end
  if i % 50 == 0 then collectgarbage() w = nil end
end
print(n)

-- An error in the middle leaves what was there.
local ok, message = pcall(function(a)
  local t
  for i = 1, 200 do
    t = a .. "b"
    if i == 150 then a = nil end
  end
  return t
end, "a")
print(ok, (message:gsub("^.*:%d+: ", "")))
