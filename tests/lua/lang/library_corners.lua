-- Arguments that are seldom given: a text ends at a NUL where C reads it, numbers beyond the integers, the order of checks.
print(pcall(assert, nil, "message\0not shown"))
print((loadstring("x =", "name\0rest")))
print(select(2, loadstring("x =", "name\0rest")))
print(select(2, loadstring("x =", "=name\0rest")))
print(select(2, loadstring("x =", "@name\0rest")))
print(tonumber("ff\0zz", 16), tonumber("11\0", 2), tonumber("11\0"))

-- Patterns end at a NUL; a plain search does not.
print(string.find("a\0b", "\0"), string.find("a\0b", "a\0b"))
print(string.match("nan", "a\0b"), string.match("ab$", "b$\0x"))
print((string.gsub("nan", "a\0b", "-")))
print(pcall(string.find, "a\0b", "[\0]"))
print(pcall(string.find, "a\0b", "%\0"))
print(string.find("a\0b", "a%z"), string.find("a\0b", "^a\0c"))
for m in string.gmatch("a-b-c", "%a\0-") do io.write(m, ";") end
print()

-- Exponents that are none.
print(math.ldexp(0, 1 / 0), math.ldexp(1, 0 / 0), math.ldexp(1, 1 / 0), math.ldexp(1, -1 / 0), math.ldexp(3, 2 ^ 40))
print(math.ldexp(1 / 0, 1 / 0), math.ldexp(-2, 1 / 0), math.ldexp(1, 1.9), math.ldexp(5, -1))

-- Which argument is blamed.
print(pcall(os.difftime, nil, true))
print(pcall(package.searchpath))
print(pcall(package.searchpath, {}, "?"))
print(pcall(os.setlocale, nil, ""))
print(os.setlocale(), os.setlocale("C"), os.setlocale(nil, "numeric"), os.setlocale("no such"))
print(pcall(string.dump, print))
print(select(2, pcall(function() local s = string.dump(print) return s end)))

-- Levels are counted in 32 bits.
print(debug.getinfo(2 ^ 32, "S").what, debug.getinfo(2 ^ 31), debug.getinfo(-1))

-- Builtins of the io library have no upvalues.
for _, name in ipairs { "read", "write", "lines", "input", "output", "close", "flush" } do
  io.write(tostring((debug.getupvalue(io[name], 1))), " ", tostring((debug.setupvalue(io[name], 1, 1))), " ")
end
print()
