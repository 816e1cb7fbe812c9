-- io: opening, writing, reading, seeking, lines, default files, closed files, types.

local name = os.tmpname()
local function hide(...)
  local out = { ... }
  for i = 1, select("#", ...) do out[i] = tostring(out[i]):gsub(name, "FILE", 1) end
  return unpack(out, 1, select("#", ...))
end
local function write(text)
  local f = assert(io.open(name, "wb"))
  f:write(text)
  f:close()
end
local function slurp()
  local f = assert(io.open(name, "rb"))
  local all = f:read("*a")
  f:close()
  return all
end

-- Writing: strings and numbers, chained results, appending, updating.
local f = assert(io.open(name, "w"))
print(io.type(f), io.type(io.stdout), io.type("x"), io.type(nil == 1), f:write("one ", 2, " ", 3.5, "\n"))
print(f:write(), f:flush(), f:seek("cur"), f:close(), io.type(f))
print((slurp():gsub("\n", "\\n")))
f = assert(io.open(name, "a"))
f:write("appended\n")
f:close()
f = assert(io.open(name, "r+"))
f:write("ONE")
f:seek("end", -3)
f:write("END")
f:close()
print((slurp():gsub("\n", "\\n")))
f = assert(io.open(name, "w+"))
f:write("abcdef")
print(f:seek("set", 2), f:read(2), f:seek(), f:seek("cur", -1), f:read("*a"), f:seek("end"), f:seek("set"), f:read(1))
f:close()
f = assert(io.open(name, "a+"))
f:write("ghi")
f:seek("set")
print(f:read("*a"))
f:close()

-- Modes and errors of open.
print(hide(io.open("/no/such/dir/file")))
print(hide(io.open("/no/such/dir/file", "w")))
print(select("#", io.open("/nonexistent")), (io.open(".", "w")))
print(pcall(io.open))
print(pcall(io.open, {}))

-- lines.
write("first\nsecond\n\nfourth without end")
for line in io.lines(name) do io.write("[", line, "]") end
print()
f = io.open(name)
local n = 0
for line in f:lines() do
  n = n + 1
  if n == 2 then break end
end
print(n, f:read("*l"), f:read("*l"), f:read("*l"), io.type(f))
f:close()
write("\n\nx\n")
n = 0
for line in io.lines(name) do n = n + #line + 1 end
print(n)
write("")
for line in io.lines(name) do error("no") end
print((pcall(io.lines, "/nonexistent")))
print(pcall(function() for _ in io.lines("/nonexistent") do end end))

-- Default input and output.
write("line 1\nline 2\n12 13\n")
print(io.input() == io.stdin, io.output() == io.stdout)
io.input(name)
print(io.read(), io.read("*n", "*n"), io.read("*l"))
print(io.read("*n"), io.read("*n"), io.read("*a") == "\n", io.read("*l"), io.read("*a"))
print(io.close(io.input()), pcall(io.read))
io.input(io.stdin)
local old = io.output()
io.output(name)
io.write("to the file ", 1, "\n")
io.output():write("more\n")
io.close()
io.output(old)
print((slurp():gsub("\n", "\\n")))
for line in io.lines(name) do io.write(line, ";") end
print()
print(pcall(io.input, "/nonexistent"))

-- Closed files refuse everything.
f = io.open(name)
f:close()
print(pcall(f.read, f))
print(pcall(f.write, f, "x"))
print(pcall(f.lines, f))
print(pcall(f.seek, f))
print(pcall(f.close, f))
print(pcall(function() return f:read() end))
print(tostring(f), io.type(f))
print(pcall(io.close, f))
print((tostring(io.open(name)):match("^file %(0x%x+%)$")) ~= nil)

-- Writing what cannot be written, reading from a file opened for writing.
f = io.open(name, "w")
print(pcall(f.write, f, {}))
print(pcall(f.write, f, nil))
print(pcall(f.write))
print(hide(f:read("*a")))
f:close()
f = io.open(name, "r")
print(hide(f:write("x")))
f:close()
print(pcall(f.nosuch or function() error("no method", 0) end))
print(pcall(io.lines, 5 == 6))

-- Buffering, many small writes, binary data, big files.
f = io.open(name, "wb")
print(f:setvbuf("full", 1024), f:setvbuf("no"), f:setvbuf("line"))
for i = 0, 255 do f:write(string.char(i)) end
f:close()
local all = slurp()
print(#all, all:byte(1), all:byte(256), all:find("\n", 1, true))
local parts = {}
for i = 1, 20000 do parts[i] = "row " .. i end
write(table.concat(parts, "\n"))
local count, length = 0, 0
for line in io.lines(name) do
  count = count + 1
  length = length + #line
end
print(count, length, #slurp())
f = io.tmpfile()
f:write("temporary ", 1)
f:seek("set")
print(f:read("*a"), io.type(f))
f:close()
print(getmetatable(io.stdout).__index == getmetatable(io.stdout), type(getmetatable(io.stdout).__gc), getmetatable(io.stdout).__name)
os.remove(name)
print((io.open(name)))
print("ok")
