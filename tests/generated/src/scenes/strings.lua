--- building 60
local s = ""
for i = 1, $t do
  s = s .. $(i|"x"|$s|T($n)) .. $("-"|i|"")
  ?s = $("<" .. s|s:upper()|s:reverse()|s:sub(2)|s)
  if #s > 60 then s = s:sub(1, $k) end
end
P(s, #s)
--- doubled 50
local s = $("ab"|"x"|$s)
for i = 1, $(4|7) do s = s .. s if #s > 200 then s = s:sub(1, $k) end end
C(#s) P(s:sub(1, 10), s:sub(-3))
--- sub 60
local s = $("hello world"|""|"abc"|$s)
for i = -$k, $k do P(s:sub(i), s:sub(i, $(-1|3|i|2)), s:byte(i)) end
--- byte_char 60
local s = "abc\0def\255"
for i = 1, $t do
  C(s:byte(i)) P(s:byte($(1|-1|i), $(3|-1|i))) C(string.char(i, 65 + i, (s:byte(i) or 0)))
end
P(pcall(string.char, $(256|-1|"65"|1.5|$x)))
--- find 60
local s = $("hello hello"|"a.b.c"|"key = value"|$s)
for i = 1, $t do
  P(s:find($("l"|"l+"|"."|"%."|"(h)(e)"|"()"|"x*"|"^h"|"o$"|"[^l]+"|"%f[%w]%w+"|"(.-)%s"), $(i|1|-3|nil)$(|, true|, false)))
end
--- match 60
for i = 1, $t do
  local s = i .. $(":key=val;"|" {a(b)c} "|"--x--"|$s)
  P(s:match($("(%d+)"|"(%w+)=(%w+)"|"%b()"|"%b{}"|"^(.-)%s*$"|"[%a_][%w_]*"|"(%d)(.)()"|"-+"|"%s*(%S+)"|"[%]x]"|"[a-c%d]+")))
end
P(pcall(string.match, "x", $("("|"%"|"[a"|"%b"|"%1"|"(()"|"%f")))
--- gmatch 60
for i = 1, $(2|4) do
  for a, b in ($("a=1, b=2, c"|"one two"|$s)):gmatch($("(%w+)=(%w+)"|"%a+"|"()(.)"|"(.)(.?)"|"x*")) do P(a, b) end
end
--- gsub 70
local s = $("hello world"|"a,b,,c"|"x = 1"|$s)
for i = 1, $t do
  P(s:gsub($("o"|"(%w)"|"%w+"|","|""|"l"|"[aeiou]"|"^h"), $("0"|"%0%0"|"%1-"|function(c) return i % 2 == 0 and c .. i end|{h = "H", o = 1, [","] = false}|string.upper|function() end|"%%"), $(nil|1|i)))
end
P(pcall(string.gsub, "abc", "%w", $("%2"|"%"|{a = {}}|function() return {} end|nil)))
--- rep 40
for i = 0, $k do P(("ab"):rep(i), ("x"):rep(i, $(","|""|nil)), #("z"):rep(i * 3)) end
P(pcall(string.rep, "x", $(-1|1e10|"2"|1.5)))
--- format 70
for i = 1, $t do
  P(("%d %5d %-5d| %05d %+d %x %X %o %c"):format(i, i, i, i, $(i|-i), i * 7, i * 11, i, 64 + i))
  ?P(("%s %10s %-10s| %.2s %q"):format(i, $s, $s, $s, $("a\nb"|"\0x"|"q\"q"|i)))
  ?P(("%.3f %5.1f %e %g %a %%"):format(i / 4, i * 0.3, i * 10, i / 16, i))
  ?P(pcall(string.format, $("%d"|"%s"|"%q"|"%c"|"%x"|"%5"|"%y"|"%"|"%i"|"%u"|"%.20s"|"%+5.2f"), $(i|text($x)|"7"|$c)))
end
--- compare 50
local list = {"a", "b", "ab", "", "B", "10", "9", "a\0b", "\200", $s}
local n = 0
for i = 1, #list do for j = 1, #list do if list[i] < list[j] then n = n + 1 end if list[i] <= list[j] then n = n + 2 end if list[i] == list[j] then n = n + 4 end end end
P(n)
--- interned 50
local t = {}
for i = 1, $t do
  local k = "k" .. i % 4
  t[k] = (t[k] or 0) + 1
  ?t["k" .. $(1|2)] = $(nil|i)
  C(t[k]) C(k == "k1") C(("k"):rep(2) == "kk")
end
P(t.k0, t.k1, t.k2, t.k3)
--- keys_of_parts 60
local t = {x1 = 1, x2 = 2, ["3"] = 3, [3] = 4}
for i = 1, $t do C(t["x" .. i]) C(t[tostring(i)]) C(t[i]) C(t[("x1"):sub(1, 2)]) t["x" .. i % 5] = i end
P(t.x1, t.x2, t["3"], t[3])
--- buffer 80 perilune
local buffer = require("string.buffer")
local b = buffer.new($(|16|1))
for i = 1, $t do
  b:put($(i|"x"|$s|T($n)), $("-"|i))
  ?b:putf("%d|%s", i, $s)
  ?P(b:get($(1|2|0)))
  ?b:skip($(1|3))
  ?b:set($s)
  ?if i == $k then b:reset() end
  if #b > 200 then b:reset() end
end
P(#b, tostring(b), b:get(), #b)
--- buffer_encode 70 perilune
local buffer = require("string.buffer")
for i = 1, $t do
  local v = $(i|$c|{1, 2, i}|{i, {i}, "x"}|$s|true|nil|i / 3)
  local s = buffer.encode(v)
  local w = buffer.decode(s)
  P(#s, type(w), type(w) == "table" and #w or w)
end
P(pcall(buffer.decode, $("\0"|"x"|"\255\1"|"")))
--- tostring_meta 50
local mt = {__tostring = function(o) return "o" .. text(o.x) end, __concat = function(a, b) return tostring(a) .. "+" .. tostring(b) end}
for i = 1, $t do local o = setmetatable({x = i}, mt) P(tostring(o), o .. 1, "s" .. o, o .. o) end
--- upper_lower 40
for i = 1, $t do local s = $("MiXed"|"ÄÖ"|$s) .. i P(s:upper(), s:lower(), s:reverse(), s:len(), #s) end
--- dump 50 perilune
local f = loadstring("local a, b = ... $(return a|for i = 1, 3 do a = (a or 0) + i end return a, b|return function() return a end)")
for i = 1, $(2|4) do local g = load(string.dump(f$(|, true))) P(pcall(g, i, 2)) end
--- concat_numbers 60
local t = {}
for i = 1, $t do t[#t + 1] = $(i .. ""|i .. "," .. i / 2|T($n) .. i|-i .. "") end
P(table.concat(t, $("|"|""|", ")))
