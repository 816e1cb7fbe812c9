-- Number literals.

print(1_000, 1__0, 0x_ff, 0x_f_f, 1_0.5_0, 1e1_0, 0b1_1, 0_x10, 5_, 0_, .5_5, 1_e1, 1e_1, 1e+_1, 1._5)
print(0x.8, 0x8., 0x1p4, 0xA.8p1, 0X1P-2, 0xffffffffffffffff, 0x1p-1074, 0xa, 0b101, 0B11, 0b0, 1e308 * 10)
print(0x7fffffff, 0x80000000, 0xffffffff, 4294967296, 9007199254740993, 1e15, 1e14, 123456789012345, .5, 5., 3e2, 3E-2, 0e12)
print(0.1, 1 / 3, 100, 1e100, -1e-100, 2^53, 2^63, 5e-324, 1.7976931348623157e308, 0x1.fffffffffffffp1023)
print(-0, 0 / -1, 1 / -0, -0.0, 3 - 3, 0 * -1)
print(tonumber "1_0", tonumber "0x_f", tonumber "1LL", tonumber "3i", tonumber "0b11", tonumber " 0x10 ", tonumber "1e", tonumber "")
for _, literal in ipairs {
  "1LL", "1ULL", "1ull", "1LLU", "0x10ll", "0b11LL", "1_0LL", "18446744073709551615ULL", "18446744073709551616ULL", "0xffffffffffffffffLL", "0x1ffffffffffffffffLL",
  "3i", "4.5i", "0x1p4i", "0b1i", "1e3i", "1I", "1.5LL", "1e3LL", "1.LL", "1L", "1U", "1UL", "1LLL", "1ii", "1iLL", "1LLi", "i", "0xi", "0xLL",
  "1_x", "1..2", "1...2", "0x", "0b", "0b2", "0x1p", "0xp1", "1e", "1e+", "1ee", "3x", "0x1.8.8", "1.5.", "0xg", "1e5.5", "08", "1f", "0x1e+1", "0x1p+1", "0b1.1", ".5.", "._5", "0b1e1",
} do
  local f, e = loadstring("return " .. literal, "=s")
  print(literal, f and f() or e)
end
