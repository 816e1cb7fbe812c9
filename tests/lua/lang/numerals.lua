-- Number literals, tonumber and tostring.

-- Literals.
assert(0x10 == 16 and 0XfF == 255 and 0x.8 == 0.5 and 0xA.8p1 == 21 and 0x1p4 == 16 and 0x1P-2 == 0.25)
assert(0b101 == 5 and 0B11 == 3 and 0b0 == 0)
assert(.5 == 0.5 and 5. == 5 and 1e2 == 100 and 1E+2 == 100 and 1e-2 == 0.01 and 3.14e1 == 31.4)
assert(0x7fffffff == 2147483647 and 0x80000000 == 2147483648 and 0xffffffff == 4294967295)
assert(0xffffffffffffffff == 2 ^ 64)
assert(00012 == 12 and 1e0 == 1)

-- How numbers print.
local values = {
  0, -0, 1, -1, 2147483647, -2147483648, 2147483648, -2147483649, 4294967296, 1e14, 1e15, 1e16, 123456789012346,
  2 ^ 53, 2 ^ 53 + 2, -2 ^ 53, 2 ^ 63, 2 ^ 64, 0.1, 1 / 3, -1 / 3, 100.5, 1e100, -1e100, 1e-5, 1e-4, 123456.789e3,
  5e-324, 1.7976931348623157e308, 99999999999999, 999999999999995, 0.1 + 0.2, 3.0, 1e300 * 1e10, -1e300 * 1e10,
  1 / 0, -1 / 0, 1e21, 12345678901234567890,
}
for i = 1, #values do print(i, values[i], tostring(values[i]) == values[i] .. "") end
print(0 / 0 ~= 0 / 0, 0 * -1, -0 * 1, 0 / -1, 1 / (0 * -1), -(0))

-- tonumber without a base.
local texts = {
  "0", "10", "  12  ", "\t\n3\r", "0x1F", "-0x1f", "+7", "- 7", "1e1", "1e", "e1", ".5", "5.", ".", "", " ", "0x", "0xg",
  "1 2", "12a", "nan", "inf", "-inf", "infinity", "0b11", "1e400", "-1e400", "1e-400", "0x1p-1", "0x.1", "0x1.8p+3",
  "\0001", "1\0", "--1", "1..2", "1.2.3", "0x-1", "  -5.25e-1 ", "123456789012345678901234567890", "0e12", "-0",
}
for i = 1, #texts do print(string.format("%q", texts[i]), tonumber(texts[i])) end

-- tonumber with a base.
for _, case in ipairs {
  { "ff", 16 }, { "FF", 16 }, { "-ff", 16 }, { "zz", 36 }, { "Zz", 36 }, { "101", 2 }, { "102", 2 }, { "777", 8 }, { "8", 8 },
  { " 11 ", 2 }, { "", 10 }, { "1 1", 10 }, { "7fffffff", 16 }, { "ffffffff", 16 }, { "12", 10 }, { "1.5", 10 }, { "1e2", 10 },
  { "9", 10 }, { 10, 16 }, { "0x10", 16 }, { "z", 35 },
} do
  print(case[1], case[2], tonumber(case[1], case[2]))
end
print(tonumber(nil), tonumber(true), tonumber({}), tonumber(print), tonumber(5), tonumber("5", 10))
print(pcall(tonumber), pcall(tonumber, "1", 1), pcall(tonumber, "1", 37))
print(pcall(tonumber, {}, 10))
print(tonumber("10", nil) == nil or tonumber("10", nil))

-- Reading back what was printed gives the same number for short decimals.
for i = -1000, 1000 do
  local x = i / 8
  assert(tonumber(tostring(x)) == x)
  assert(tonumber(string.format("%.17g", i / 7)) == i / 7)
end
print("ok")
