-- Variants of builtins that are compiled: the loop's trace has none of the instructions that would call them, or make what nobody needs.
-- `tests/lua/events/builtins.lua` has one case for each builtin.
local util, op = require "jit.util", require("ir").op
jit.off(true)
jit.opt.start("hotloop=10", "hotexit=5")

local cases = {
  ["select from the end"] = { "NATIVE", "local function f(...) return (select(-1, ...)) end | s = s + f(1, i)" },
  ["tail call in a vararg function"] = { "RETF", "local function f(...) return string.match(...) end | s = s + #f('a1', '%d')" },
  ["logarithm to a base"] = { "NATIVE", "| s = s + math.log(8, 2)" },
  ["plain find"] = { "NATIVE", "local t = 'a.b' | s = s + t:find('.', i % 2 + 1, true)" },
  ["name of a boolean"] = { "NATIVE", "| s = s + #tostring(i % 7 == 8)" },
  ["protected metatable"] = { "NATIVE", "local t = setmetatable({}, { __metatable = 'no' }) | s = s + #getmetatable(t)" },
  ["next of an empty table"] = { "NATIVE", "local t = {} | if next(t) == nil then s = s + 1 end" },
  ["format of numbers and strings"] = { "NATIVE", "| s = s + #('%5.1f|%-3s|%x %%'):format(i, 'a', i)" },
  ["format that nobody needs"] = { "BUFFMT", "| local unused = ('%d: %5.1f'):format(i, i) s = s + i" },
  ["invariant concatenation"] = { "CALLA", "local a, b = 'on_', { kind = 'bar' } | s = s + #(a .. b.kind)" },
  ["invariant text"] = { "BUFSTR", "local a, b = 'x', 'y' | s = s + #(a .. b .. a .. 1)" },
  ["concatenation of constants"] = { "CALLA", "| s = s + #('on_' .. 'x')" },
  ["upper case of an invariant"] = { "CALLA", "local a = 'abc' | s = s + #a:upper()" },
  ["several characters"] = { "NATIVE", "| s = s + #string.char(i % 256, 65, 66) + #string.char(1, 2, 3, 4, i % 256, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, i % 256)" },
  ["elements of ..."] = { "TNEW", "local function f(...) local t = { ... } return t[2] end | s = s + f(1, i)" },
  ["copy of a few bytes"] = { "CALLS", "local ffi = require 'ffi' local a = ffi.new 'char[8]' | ffi.copy(a, 'abc', 3) s = s + a[1]" },
  ["characters with fractions"] = { "NATIVE", "| s = s + #string.char((i + 0.25) % 256)" },
  ["a buffer put into a buffer"] = { "NATIVE", "local new = require 'string.buffer'.new local a, b = new(), new():put('x') | s = s + #a:reset():put(b)" },
  ["bytes of C put into a buffer"] = { "NATIVE",
    "local c, b = require 'ffi'.new 'char[4]', require 'string.buffer'.new() | s = s + #b:reset():putcdata(c, 3)" },
  ["memory of a buffer"] = { "NATIVE",
    "require 'ffi' local b = require 'string.buffer'.new() | local p = b:reset():reserve(4) p[0] = i % 100 b:commit(1) s = s + b:ref()[0]" },
  ["name of a constant"] = { "NATIVE",
    "local ffi = require 'ffi' pcall(ffi.cdef, 'typedef enum { RED, GREEN = 5 } color;') local e = ffi.new('color[1]') "
      .. "| e[0] = i % 2 == 0 and 'RED' or 'GREEN' s = s + tonumber(e[0])" },
  ["low bits of a 64-bit integer"] = { "NATIVE", "| s = s + bit.tobit(i * 1ULL)" },
  ["metamethod of cdata with a table as the key"] = { "NATIVE",
    "local ffi = require 'ffi' local A = ffi.metatype(ffi.typeof 'struct { int x; }', { __index = function(a, k) return a.x + k[1] end }) "
      .. "local a, k = A(1), { 2 } | s = s + a[k]" },
  ["remove at the length"] = { "NATIVE", "local t = {} for i = 1, 400 do t[i] = i end | s = s + table.remove(t, #t)" },
  ["insert behind the length"] = { "NATIVE", "local t = {} | table.insert(t, #t + 1, i) s = s + #t" },
  ["box of a narrow scalar"] = { "CNEWI", "local ffi = require 'ffi' | s = s + tonumber(ffi.cast('int8_t', i))" },
}

-- How many instructions of a kind does the loop of trace `n` have? Those before the loop run once.
local function count(n, name)
  local found, is_loop = 0, false
  for ref = 1, util.traceinfo(n).nins do
    local what = op(n, ref)
    is_loop = is_loop or what == "LOOP"
    if is_loop and what == name then found = found + 1 end
  end
  return is_loop and found
end

for name, case in pairs(cases) do
  local before, body = case[2]:match "^(.-)| (.*)$"
  local text = ("local s = 0 %s for i = 1, 300 do %s end return s"):format(before, body)
  local f = assert(loadstring(text, "=" .. name))
  jit.off(f)
  local expected = f()
  jit.flush()
  f = assert(loadstring(text, "=" .. name))
  assert(f() == expected, name)
  local loop
  for n = 1, 20 do
    local info = util.traceinfo(n)
    if info and info.linktype == "loop" then loop = loop or n end
  end
  assert(loop, name .. ": no loop")
  local found = count(loop, case[1])
  assert(found == 0, ("%s: %s times %s"):format(name, tostring(found), case[1]))
end
print "ok"
