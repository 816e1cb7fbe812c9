-- Strings and numbers turn into each other in arithmetic, concatenation and arguments, not in comparison or keys.

-- Arithmetic on strings.
print("10" + 1, "0x10" + 0, " 5 " * "2", "1e1" - 1, "-3" % 2, "9" / "3", "2" ^ 2, -"4", -"-4", -" 0x10 ")
print(10 .. "", 1.5 .. "|" .. -2, 2 ^ 53 .. "", -0 .. "", (1 / 0) .. "", 1e15 .. "", 0.1 .. "", 100000 * 100000 .. "")
print("5" + "5" == 10, "0.1" + "0.2", "1" .. 2 + 3, ("7" + 0) .. 8)
for _, bad in ipairs { "", "abc", "1x", "0x", "1 2", "--1" } do
  print(pcall(function() return bad + 1 end))
end
print(pcall(function() return {} + 1 end))
print(pcall(function() return 1 + nil end))
print(pcall(function() return -{} end))
print(pcall(function() return -"abc" end))
print(pcall(function() return "a" .. {} end))
print(pcall(function() return nil .. "a" end))
print(pcall(function() return true .. "a" end))

-- No coercion in comparison, equality or keys.
print(1 == "1", "10" == 10, pcall(function() return 1 < "2" end))
local t = { [1] = "number", ["1"] = "string" }
print(t[1], t["1"], t[1.0], t["1.0"])

-- Loop bounds are arithmetic too.
print(pcall(function() for i = "1", 2 do return i end end))
print(pcall(function() for i = 1, "2" do return i end end))
print(pcall(function() for i = 1, 2, "1" do return i end end))

-- Library functions take numeric strings for numbers, and numbers for strings.
print(("12345"):sub("2", "3"), string.rep("ab", "3"), math.floor("3.7"), math.max("10", 9), string.char("65", 66))
print(string.len(12345), string.upper(1.5), string.rep(12, 2), string.reverse(120), string.find(12345, 34))
print(table.concat({ 1, 2.5, "x", -0 }, ","), string.format("%d %s %5.1f", "42", 42, "2.375"), select("2", "a", "b"))
print(pcall(string.rep, "x", "y"))
print(pcall(string.rep, "x", nil))
print(pcall(string.rep, nil, 1))
print(pcall(math.floor, "x"))
print(pcall(math.floor, {}))
print(pcall(string.sub, true, 1))

-- Results of coerced arithmetic are numbers.
print(type("10" + 0), type(10 .. ""), type(-"1"), type("2" ^ 2))
local sum = 0
for i = 1, 20 do sum = sum + tostring(i) end
print(sum, #(sum .. ""))
local text = 0
for i = 1, 5 do text = text .. i end
print(text, text + 1)

-- Truth: only nil and false are false.
local truths = {}
for _, v in ipairs { 0, "", "false", 0 / 0, {}, print, coroutine.create(print) } do truths[#truths + 1] = v and 1 or 0 end
print(table.concat(truths), not nil, not false, not 0, not "")

-- tostring and its friends on all plain types.
print(tostring(nil), tostring(true), tostring(false), tostring("s"), tostring(-1.5), type(nil), type(type))
print(tostring({}):match("^table: 0x%x+$") ~= nil, tostring(function() end):match("^function: 0x%x+$") ~= nil)
print(tostring(print):match("^function: builtin") ~= nil, tostring(coroutine.create(print)):match("^thread: 0x%x+$") ~= nil)
print(pcall(tostring))
print(pcall(type))
print("ok")
