-- string.format: every conversion with flags, widths and precisions; quoting; rounding; special numbers.

local function f(fmt, ...) print(fmt, "[" .. string.format(fmt, ...) .. "]") end

-- Integers.
for _, fmt in ipairs { "%d", "%i", "%5d", "%-5d", "%05d", "%+d", "% d", "%.3d", "%+05d", "%-+5d", "%5.3d", "%.0d" } do
  print(fmt, string.format(fmt .. "|" .. fmt .. "|" .. fmt, 42, -42, 0))
end
for _, fmt in ipairs { "%u", "%x", "%X", "%o", "%#x", "%#X", "%#o", "%08x", "%-8x", "%.4x", "%10.5X" } do
  print(fmt, string.format(fmt .. "|" .. fmt, 255, 0))
end
f("%x %X %o", 2 ^ 31, 2 ^ 32 - 1, 2 ^ 33)
f("%d %d %d", 2 ^ 31, -2 ^ 31 - 1, 2 ^ 53)
f("%d %d %d %d", 1.9, -1.9, "7", "0x10")
f("%x", -1)
f("%c%c%c|%5c|%-5c|", 72, 105, 33, 65, 66)
f("%c", 0)

-- Floats.
local values = { 0, -0, 1, -1.3, 3.14159265358979, 123456.789, 1e10, 1e-10, 1e100, 0.4, 2.7, 1 / 3, 99.995, 1e15, 123456789012 }
for _, fmt in ipairs { "%f", "%.0f", "%.2f", "%10.3f", "%-10.1f", "%+.1f", "% .2f", "%010.2f", "%#.0f", "%e", "%.0e", "%.3E", "%12.2e", "%g", "%.3g", "%.10g", "%G", "%#g", "%.14g", "%.17g", "%+g", "%08g", "%-8g|" } do
  local out = {}
  for i, v in ipairs(values) do out[i] = string.format(fmt, v) end
  print(fmt, table.concat(out, " "))
end
for _, v in ipairs { 0 / 0, 1 / 0, -1 / 0 } do
  print(string.format("%f %.1f %5.1f %e %g %G %10g|%-10g|%+g % g %05g %d", v, v, v, v, v, v, v, v, v, v, v, 0))
end
f("%.99f", 1 / 3)
f("%.20f %.30g", 0.1, 0.1)
f("%5.1f|%5.0f|%.3f", 9.95, 0.6, 2 ^ 53)
f("%.0f %.0f %.0f %.0f %.0f", 0.49, 1.51, 2.4999, 3.6, -0.51)
f("%.1f %.1f %.2f %.2f", 0.15, 0.35, 1.005, 2.675)
f("%.15g %.16g %.17g", 0.1, 0.1, 0.1)
f("%.3f %.3f", 1e22, 123456789.123456789)
f("%g %g %g %g %g", 100000, 1000000, 1e5 + 0.6, 0.0001, 0.00001)
f("%f", 1.7976931348623157e308)
f("%e %g", 5e-324, 2.2250738585072014e-308)

-- Hexadecimal floats.
f("%a %a %a %a", 1, 0.5, -2, 0)
f("%A %.2a %.0a %a", 255.5, 1 / 3, 1.7, 1e10)

-- Strings.
f("%s %s %s %s", "str", 12, true, nil)
f("%10s|%-10s|%.2s|%10.3s|%-6.1s|", "right", "left", "cut", "abcdef", "xyz")
f("%s", "with\0zero")
f("%s|%5s|%-7s", 1.5, false, nil)
f("%s %s", 1e15, -0)
f("%.0s|%.10s|%20s", "gone", "short", ("long"):rep(3))
f("%%|%5s%%", "x")
f("plain")
f("")
f("%s", ("x"):rep(500))
print(string.format("%s", setmetatable({}, { __tostring = function() return "via tostring" end })))
print(#string.format("%99d", 1), #string.format("%-99s", "x"), pcall(string.format, "%100d", 1))

-- %q can be read back.
f("%q", 'quote " backslash \\ newline \n end')
f("%q", "tab\t return\r bell\a zero\0 digit\0001 high\200 del\127")
f("%q", "")
local tricky = {}
for i = 0, 255 do tricky[#tricky + 1] = string.char(i) end
tricky = table.concat(tricky)
print(assert(loadstring("return " .. string.format("%q", tricky)))() == tricky)
print(string.format("%q", 5), string.format("%q", 1.5))

-- Arguments: too many are dropped, too few and wrong ones are errors.
f("%d", 1, 2, 3)
for _, case in ipairs {
  { "%d" }, { "%s" }, { "%d %d", 1 }, { "%d", "x" }, { "%d", {} }, { "%f", nil }, { "%c", "x" }, { "%q" }, { "%y", 1 }, { "%", 1 }, { "%-", 1 },
  { "%10", 1 }, { "%.123f", 1 }, { "%123d", 1 }, { "%--d", 1 }, { "%0-+ #d", 1 }, { "%l", 1 }, { "%*d", 1, 2 }, { "%5.5.5d", 1 }, { "%.d", 3 }, { "%.f", 3.7 },
  { "%#q", "x" }, { "%5q", "x" }, { "%h", 1 }, { "%n", 1 }, { "%", }, { "abc%" }, { "%s%" , 1 }, { nil },
} do
  print(case[1], pcall(string.format, unpack(case)))
end

-- Tables and numbers in rows.
for i = 1, 3 do f("%-5s %3d %6.2f%%", ("abc"):sub(1, i), i ^ 3, 100 / i) end
local parts = {}
for i = 1, 200 do parts[i] = string.format("%03d:%s", i, i % 2 == 0 and "even" or "odd") end
local all = table.concat(parts, ",")
print(#all, all:sub(-17))
print("ok")
