-- read's formats: lines with and without their end, numbers, counts, everything, several at once, at the end of file.

local name = os.tmpname()
local function with(text, ...)
  local f = assert(io.open(name, "wb"))
  f:write(text)
  f:close()
  f = assert(io.open(name, "rb"))
  local out = { f:read(...) }
  local n = select("#", ...)
  if n == 0 then n = 1 end
  for i = 1, n do
    local v = out[i]
    if type(v) == "string" and #v > 100 then v = v:sub(1, 3) .. "..." .. #v end
    out[i] = type(v) == "string" and string.format("%q", v):gsub("\\\n", "\\n") or tostring(v)
  end
  local rest = f:read("*a")
  f:close()
  print(table.concat(out, " ", 1, n), #rest)
end

-- Lines.
with("one\ntwo\n")
with("one\ntwo\n", "*l", "*l", "*l")
with("one\ntwo", "*l", "*l", "*l")
with("one\ntwo\n", "*L", "*L", "*L")
with("one\ntwo", "*L", "*L")
with("one\ntwo", "l", "L")
with("", "*l")
with("", "*L")
with("\n", "*l", "*l")
with("\n\n", "*L", "*l", "*l")
with("a\r\nb\r\n", "*l", "*L")
with("with\0zero\nnext", "*l", "*l")
with(("x"):rep(5000) .. "\nrest", "*l")

-- Everything.
with("all of it\nand more", "*a")
with("", "*a")
with("text", "*a", "*a")
with("text", "*a", "*l")
with("a\nb\nc", "*l", "*a")

-- Counts.
with("abcdef", 3)
with("abcdef", 3, 10)
with("abcdef", 0)
with("", 0)
with("", 1)
with("abc", 3, 0)
with("abc", 3, 1)
with("ab\ncd", 4, 1)
with(("y"):rep(10000), 9999, 5)

-- Numbers.
with("12 34.5 -6 0x1F 1e3 .5 +7", "*n", "*n", "*n", "*n", "*n", "*n", "*n")
with("  \n\t42", "*n")
with("42abc", "*n", 3)
with("abc", "*n")
with("", "*n")
with("1,2,3", "*n", 1, "*n", 1, "*n")
with("10\n20\n30", "*n", "*n", "*n", "*n")
with("5\nrest of line", "*n", "*l", "*l")
with("1 x 2", "*n", "*n")

-- Stops at the first failure.
with("5 x", "*n", "*n", "*l")
with("ab", 2, 1, "*a")
with("one\n", "*l", "*l", "*a")

-- Bad formats.
local f = assert(io.open(name))
print(pcall(f.read, f, "*x"))
print(pcall(f.read, f, "x"))
print(pcall(f.read, f, {}))
print(pcall(f.read, f, ""))
f:close()

-- Formats of io.lines and file:lines.
f = assert(io.open(name, "w"))
f:write("1 2\n3 4\n5 6\n")
f:close()
for a, b in io.lines(name, "*n", "*n") do io.write(a, "+", b, ";") end
print()
for line in io.lines(name, "*L") do io.write((line:gsub("\n", "|"))) end
print()
for chunk in io.lines(name, 5) do io.write("<", (chunk:gsub("\n", "|")), ">") end
print()
f = io.open(name)
for a in f:lines("*n") do io.write(a, " ") end
print(f:read("*a") == "")
f:close()
for all in io.lines(name, "*a") do
  print(#all)
  break
end

-- Reading while writing through one handle, seeking between.
f = assert(io.open(name, "w+"))
for i = 1, 5 do f:write(i, "\n") end
f:seek("set", 4)
print(f:read("*n"), f:read("*l"), f:read("*l"), f:seek("cur"))
f:seek("set", 0)
local sum = 0
for line in f:lines() do sum = sum + line end
print(sum, f:read("*l"), f:read("*a"), f:read(0), f:seek("end"))
f:close()
os.remove(name)
print("ok")
