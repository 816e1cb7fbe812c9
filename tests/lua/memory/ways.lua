-- One of the ways to use up memory, named by the argument: it ends in an error, after which the program goes on.
local buffer = require("string.buffer")
local million = string.rep("x", 1e6)
local ways = {}

function ways.rep() return string.rep("x", 2 ^ 31 - 300) end
function ways.upper() local s = {} for i = 1, 1000 do s[i] = string.rep(i .. "x", 5e6):upper() end end
function ways.table() local t, i = {}, 0 while true do i = i + 1 t[i] = i end end
function ways.hash() local t, i = {}, 0 while true do i = i + 1 t[i + 0.5] = i end end
function ways.insert() local t = {} while true do table.insert(t, 1) end end
function ways.tables() local t, i = {}, 0 while true do i = i + 1 t[i] = { i } end end
function ways.list() local l while true do l = { l } end end
function ways.closures() local t, i = {}, 0 while true do i = i + 1 t[i] = function() return i end end end
function ways.concat() local s = "x" while true do s = s .. s end end
function ways.grow() local function grow(n) local s = "x" for j = 1, n do s = s .. s end return #s end for i = 1, 300 do grow(10) end return grow(40) end
function ways.join() local function join(a, b, n) for i = 1, n do a = a .. i .. b .. a end return #a end for i = 1, 300 do join("a", "b", 3) end return join("a", "b", 40) end
function ways.substrings() local s, t = million:rep(20), {} for i = 1, 1000 do t[i] = s:sub(i) end end
function ways.reversed() local t = {} for i = 1, 1000 do t[i] = (i .. million:rep(5)):reverse() end end
function ways.concat_list() local t = {} for i = 1, 2000 do t[i] = million end return table.concat(t, ",") end
function ways.gsub() return (million:rep(10):gsub("x", string.rep("y", 1000))) end
function ways.format() local s = million:rep(40) return ("%s"):rep(30):format(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s) end
function ways.quoted() return ("%q"):format(string.rep("\0", 1.2e8)):rep(10) end
function ways.buffer() local b = buffer.new() while true do b:put(million) end end
function ways.encode() local t = {} for i = 1, 2000 do t[i] = million end return buffer.encode(t) end
function ways.read() return io.open("/dev/zero"):read("*a") end
function ways.coroutines() local t, i = {}, 0 while true do i = i + 1 t[i] = coroutine.create(print) end end
function ways.nested()
  local function f() local ok, e = coroutine.resume(coroutine.create(f)) if not ok then error(e, 0) end end
  f()
end
function ways.wrapped() local function f() return coroutine.wrap(f)() end f() end
function ways.parse() return assert(load("return " .. ("("):rep(1e6) .. "1" .. (")"):rep(1e6))) end
function ways.pattern() return ("x"):find(("."):rep(1e7)) end
function ways.pieces() return assert(load(function() return "x = 1 " end)) end
function ways.template() return assert(load("return {" .. ("1,"):rep(5e7) .. "}")) end

local ok, e = pcall(ways[...])
assert(not ok)
e = e:gsub("^.*:%d+: ", "")
assert(e == "not enough memory" or e == "C stack overflow" or e == "chunk has too many syntax levels", e)
collectgarbage()
collectgarbage()
local t = {}
for i = 1, 1000 do t[i] = { i, ("x"):rep(1000 + i) } end
print(#t == 1000 and #("y"):rep(1e6) == 1e6 and "ok")
