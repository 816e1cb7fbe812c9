-- os: time and date for fixed moments (UTC), clock, getenv, files, difftime; what varies is only checked for its kind.

-- date with "!" is UTC.
for _, t in ipairs { 0, 1, 86399, 86400, 951782400, 1000000000, 1709164800, 2147483647, 1735689599 } do
  print(t, os.date("!%Y-%m-%d %H:%M:%S", t), os.date("!%a %b %d %j %y %p %I %w %U %A %B", t))
end
print(os.date("!%c|%x|%X|%D|%T|%F|%R|%e|%n|%t|%%", 1000000000))
print(os.date("!no conversions", 0), os.date("!", 0), #os.date("!%Y", 0))
local d = os.date("!*t", 1709164800)
local keys = {}
for k, v in pairs(d) do keys[#keys + 1] = k .. "=" .. tostring(v) end
table.sort(keys)
print(table.concat(keys, " "))
d = os.date("!*t", 0)
print(d.year, d.month, d.day, d.hour, d.min, d.sec, d.wday, d.yday, d.isdst)
print(type(os.date()), type(os.date("*t").year), #os.date("%H:%M:%S"))

-- time of a table is local time: checked by going there and back.
local t = { year = 2024, month = 2, day = 29, hour = 12, min = 30, sec = 15 }
local stamp = os.time(t)
local back = os.date("*t", stamp)
print(back.year, back.month, back.day, back.hour, back.min, back.sec, type(stamp))
print(os.time { year = 2024, month = 3, day = 1 } - os.time { year = 2024, month = 2, day = 28, hour = 12 } == 2 * 86400)
print(os.date("*t", os.time { year = 2023, month = 14, day = -3, hour = 12 }).month, os.date("*t", os.time { year = 2024, month = 1, day = 32 }).month)
print(os.time { year = 2020, month = 1, day = 1, hour = 0 } < os.time { year = 2020, month = 1, day = 1 })
print(math.abs(os.time() - os.time(os.date("*t"))) <= 2, os.time() > 1600000000, os.time() == math.floor(os.time()))
print(pcall(os.time, { year = 2020 }))
print(pcall(os.time, { year = 2020, month = "x", day = 1 }))
print(pcall(os.time, { month = 1, day = 1 }))
print(os.time { year = "2020", month = "1", day = "1", hour = 12 } == os.time { year = 2020, month = 1, day = 1 })
print(os.difftime(100, 40), os.difftime(0, 5.5), pcall(os.difftime))

-- clock grows with work.
local c = os.clock()
local x = 0
for i = 1, 100000 do x = x + i end
print(type(c), os.clock() >= c, c < 60)

-- Environment.
print(type(os.getenv("PATH")), os.getenv("SURELY_NOT_SET_ANYWHERE_123"), pcall(os.getenv))

-- Files: tmpname, rename, remove.
local name = os.tmpname()
print(type(name), io.open(name) ~= nil)
local f = assert(io.open(name, "w"))
f:write("content")
f:close()
local other = name .. ".moved"
print(os.rename(name, other), (io.open(name)), io.open(other):read("*a"))
print(os.remove(other), (os.remove(other)), select(3, os.remove(other)))
print((select(2, os.remove(other)):gsub(".*/[^:]*", "FILE")))
print((os.rename(name, other)), select("#", os.rename(name, other)))
print(pcall(os.remove), pcall(os.rename, "x"))

-- Commands and locale.
print(os.execute("exit 0"), os.execute("exit 3"), os.execute() ~= 0)
print(os.setlocale("C"), os.setlocale(nil), os.setlocale("no such locale"), pcall(os.setlocale, "C", "bad category"))
local names = {}
for k in pairs(os) do names[#names + 1] = k end
table.sort(names)
print(table.concat(names, " "))
print("ok")
