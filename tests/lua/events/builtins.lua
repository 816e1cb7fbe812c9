-- For each builtin a hot loop that calls it, checked to become what the table of builtins says. Arguments: `name=word`, with the
-- words of the table.
local util = require "jit.util"
local vmdef = require "jit.vmdef"
local buffer = require "string.buffer"
jit.off(true, true)

-- What stands in the loop over `i`, and adds to `s`. What comes before it is in front of a bar; in front of a colon, if the loop is
-- another one.
local cases = {
  ["assert"] = "s = s + assert(i, 'no')",
  ["type"] = "s = s + #type(i)",
  ["next"] = "local t = { 1, 2 } | s = s + next(t)",
  ["pairs"] = "local t = { 5 } | local f, u, k = pairs(t) s = s + u[1] + (k == nil and 1 or 0)",
  ["ipairs_aux"] = "local t = {} for i = 1, n do t[i] = i end : for k, v in ipairs(t) do s = s + v end",
  ["ipairs"] = "local t = { 5 } | local f, u, k = ipairs(t) s = s + u[1] + k",
  ["getmetatable"] = "local m = { x = 1 } local t = setmetatable({}, m) | s = s + getmetatable(t).x",
  ["setmetatable"] = "local m = { __index = { x = 2 } } | s = s + setmetatable({}, m).x",
  ["getfenv"] = "local function f() end | s = s + getfenv(f).math.abs(-i)",
  ["setfenv"] = "local function f() return x end | s = s + setfenv(f, { x = i })()",
  ["rawget"] = "local t = { x = 3 } | s = s + rawget(t, 'x')",
  ["rawset"] = "local t = { x = 3 } | rawset(t, 'x', i) s = s + t.x",
  ["rawequal"] = "local t = {} | if rawequal(t, t) then s = s + 1 end",
  ["unpack"] = "local t = { 5, 6 } | local a, b = unpack(t) s = s + a * b",
  ["select"] = "s = s + select(2, 7, i, 8)",
  ["tonumber"] = "local x = '12' | s = s + tonumber(x)",
  ["tostring"] = "s = s + #tostring(i)",
  ["error"] = "local function f(x) error(x) end | local ok, e = pcall(f, i) s = s + e:len()",
  ["pcall"] = "local function f(x) return x end | local ok, x = pcall(f, i) s = s + x",
  ["xpcall"] = "local function f(x) return x end | local ok, x = xpcall(f, print, i) s = s + x",
  ["loadfile"] = "local f = loadfile('no such file') s = s + (f and 1 or 2)",
  ["load"] = "s = s + load('return 5')()",
  ["loadstring"] = "s = s + loadstring('return 5')()",
  ["dofile"] = "local name = os.tmpname() local f = io.open(name, 'w') f:write('return 5') f:close() | s = s + dofile(name) if i == n then os.remove(name) end",
  ["gcinfo"] = "s = s + (gcinfo() > 0 and 1 or 2)",
  ["collectgarbage"] = "s = s + (collectgarbage('count') > 0 and 1 or 2)",
  ["newproxy"] = "s = s + #type(newproxy())",
  ["print"] = "print(i) s = s + i",
  ["coroutine.status"] = "local co = coroutine.create(print) | s = s + #coroutine.status(co)",
  ["coroutine.running"] = "s = s + (coroutine.running() and 1 or 2)",
  ["coroutine.isyieldable"] = "s = s + (coroutine.isyieldable() and 1 or 2)",
  ["coroutine.create"] = "s = s + #type(coroutine.create(print))",
  ["coroutine.yield"] = "local f = coroutine.wrap(function() while true do coroutine.yield(5) end end) | s = s + f()",
  ["coroutine.resume"] = "local co = coroutine.create(function() while true do coroutine.yield(5) end end) | local ok, x = coroutine.resume(co) s = s + x",
  ["coroutine.wrap_aux"] = "local f = coroutine.wrap(function() while true do coroutine.yield(5) end end) | s = s + f()",
  ["coroutine.wrap"] = "s = s + #type(coroutine.wrap(print))",
  ["math.abs"] = "s = s + math.abs(-i)",
  ["math.floor"] = "s = s + math.floor(i / 2)",
  ["math.ceil"] = "s = s + math.ceil(i / 2)",
  ["math.sqrt"] = "s = s + math.sqrt(i)",
  ["math.log10"] = "s = s + math.log10(i)",
  ["math.exp"] = "s = s + math.exp(i / n)",
  ["math.sin"] = "s = s + math.sin(i)",
  ["math.cos"] = "s = s + math.cos(i)",
  ["math.tan"] = "s = s + math.tan(i)",
  ["math.asin"] = "s = s + math.asin(i / n)",
  ["math.acos"] = "s = s + math.acos(i / n)",
  ["math.atan"] = "s = s + math.atan(i)",
  ["math.sinh"] = "s = s + math.sinh(i / n)",
  ["math.cosh"] = "s = s + math.cosh(i / n)",
  ["math.tanh"] = "s = s + math.tanh(i / n)",
  ["math.frexp"] = "local m, e = math.frexp(i) s = s + m * e",
  ["math.modf"] = "local a, b = math.modf(i / 2) s = s + a * b",
  ["math.log"] = "s = s + math.log(i)",
  ["math.atan2"] = "s = s + math.atan2(i, 2)",
  ["math.pow"] = "s = s + math.pow(i, 0.3)",
  ["math.fmod"] = "s = s + math.fmod(i, 7)",
  ["math.ldexp"] = "s = s + math.ldexp(i, 2)",
  ["math.min"] = "s = s + math.min(i, 50)",
  ["math.max"] = "s = s + math.max(i, 50)",
  ["math.random"] = "math.randomseed(5) | s = s + math.random(9)",
  ["math.randomseed"] = "math.randomseed(i) s = s + i",
  ["bit.tobit"] = "s = s + bit.tobit(i + 2^32)",
  ["bit.bnot"] = "s = s + bit.bnot(i)",
  ["bit.bswap"] = "s = s + bit.bswap(i)",
  ["bit.lshift"] = "s = s + bit.lshift(i, 3)",
  ["bit.rshift"] = "s = s + bit.rshift(i, 3)",
  ["bit.arshift"] = "s = s + bit.arshift(-i, 3)",
  ["bit.rol"] = "s = s + bit.rol(i, 30)",
  ["bit.ror"] = "s = s + bit.ror(i, 3)",
  ["bit.band"] = "s = s + bit.band(i, 63)",
  ["bit.bor"] = "s = s + bit.bor(i, 64)",
  ["bit.bxor"] = "s = s + bit.bxor(i, 99)",
  ["bit.tohex"] = "s = s + #bit.tohex(i)",
  ["string.byte"] = "local x = ('abc'):rep(n) | s = s + x:byte(i)",
  ["string.char"] = "s = s + #string.char(i % 200)",
  ["string.sub"] = "local x = ('abc'):rep(n) | s = s + #x:sub(i, i + 5)",
  ["string.rep"] = "s = s + #('ab'):rep(i)",
  ["string.reverse"] = "local x = 'abc' | s = s + #x:reverse()",
  ["string.lower"] = "local x = 'ABC' | s = s + #x:lower()",
  ["string.upper"] = "local x = 'abc' | s = s + #x:upper()",
  ["string.dump"] = "local function f() end | s = s + #string.dump(f, true)",
  ["string.find"] = "local x = 'abcd' | s = s + x:find('c')",
  ["string.match"] = "local x = 'a12' | s = s + #x:match('%d+')",
  ["string.gmatch_aux"] = "local x = ('1 '):rep(n) : for w in x:gmatch('%d') do s = s + #w end",
  ["string.gmatch"] = "local x = '1 2 3' | s = s + #x:gmatch('%d')()",
  ["string.gsub"] = "local x = 'abab' | local _, k = x:gsub('a', 'b') s = s + k",
  ["string.format"] = "s = s + #string.format('%d %s', i, 'x')",
  ["table.maxn"] = "local t = { 1, 2, 3 } | s = s + table.maxn(t)",
  ["table.insert"] = "local t = {} | table.insert(t, i) s = s + #t",
  ["table.concat"] = "local t = { 1, 'a', 3 } | s = s + #table.concat(t, ',')",
  ["table.sort"] = "local t = { 1, 2, 3 } | t[1] = i % 5 table.sort(t) s = s + t[1]",
  ["table.new"] = "local new = require 'table.new' | s = s + #new(4, 4)",
  ["table.clear"] = "local clear = require 'table.clear' local t = {} | t[1] = i clear(t) s = s + #t",
  ["io.method.close"] = "local f = io.tmpfile() s = s + (f:close() and 1 or 2)",
  ["io.method.read"] = "local f = io.tmpfile() f:write(('12 '):rep(n)) f:seek('set') | s = s + f:read('*n')",
  ["io.method.write"] = "local f = io.tmpfile() | s = s + (f:write('x', i) == f and 1 or 2)",
  ["io.method.flush"] = "local f = io.tmpfile() | s = s + (f:flush() and 1 or 2)",
  ["io.method.seek"] = "local f = io.tmpfile() | s = s + f:seek('set', i)",
  ["io.method.setvbuf"] = "local f = io.tmpfile() | s = s + (f:setvbuf('full') and 1 or 2)",
  ["io.method.lines"] = "local f = io.tmpfile() | s = s + #type(f:lines())",
  ["io.method.__gc"] = "local f = io.tmpfile() local gc = getmetatable(f).__gc | gc(f) s = s + #io.type(f)",
  ["io.method.__tostring"] = "local f = io.tmpfile() f:close() local name = getmetatable(f).__tostring | s = s + #name(f)",
  ["io.open"] = "s = s + (io.open('no such file') and 1 or 2)",
  ["io.popen"] = "s = s + (io.popen('exit 0'):close() and 1 or 2)",
  ["io.tmpfile"] = "s = s + (io.tmpfile():close() and 1 or 2)",
  ["io.close"] = "local f = io.tmpfile() s = s + (io.close(f) and 1 or 2)",
  ["io.read"] = "local f = io.tmpfile() f:write(('12 '):rep(n)) f:seek('set') io.input(f) | s = s + io.read('*n') if i == n then io.input(io.stdin) end",
  ["io.write"] = "s = s + (io.write('', '') and 1 or 2)",
  ["io.flush"] = "s = s + (io.flush() and 1 or 2)",
  ["io.input"] = "s = s + (io.input() == io.stdin and 1 or 2)",
  ["io.output"] = "s = s + (io.output() == io.stdout and 1 or 2)",
  ["io.lines"] = "local f = io.tmpfile() io.input(f) | s = s + #type(io.lines()) if i == n then io.input(io.stdin) end",
  ["io.type"] = "s = s + #io.type(io.stdout)",
  ["os.execute"] = "s = s + (os.execute('exit 0') == 0 and 1 or 2)",
  ["os.remove"] = "s = s + (os.remove('no such file') and 1 or 2)",
  ["os.rename"] = "s = s + (os.rename('no such file', 'other') and 1 or 2)",
  ["os.tmpname"] = "local name = os.tmpname() os.remove(name) s = s + #type(name)",
  ["os.getenv"] = "s = s + (os.getenv('NO SUCH VARIABLE') and 1 or 2)",
  ["os.exit"] = "local function f(x) os.exit(x) end | local ok = pcall(f, 'no number') s = s + (ok and 1 or 2)",
  ["os.clock"] = "s = s + (os.clock() >= 0 and 1 or 2)",
  ["os.date"] = "s = s + #os.date('!%Y', i)",
  ["os.time"] = "s = s + (os.time() > 0 and 1 or 2)",
  ["os.difftime"] = "s = s + os.difftime(i, 5)",
  ["os.setlocale"] = "s = s + #os.setlocale()",
  ["debug.getregistry"] = "s = s + #type(debug.getregistry())",
  ["debug.getmetatable"] = "local t = setmetatable({}, { x = 3 }) | s = s + debug.getmetatable(t).x",
  ["debug.setmetatable"] = "local m = { __index = { x = 2 } } | local t = {} debug.setmetatable(t, m) s = s + t.x",
  ["debug.getfenv"] = "local function f() end | s = s + debug.getfenv(f).math.abs(-i)",
  ["debug.setfenv"] = "local function f() return x end | s = s + debug.setfenv(f, { x = i })()",
  ["debug.getinfo"] = "s = s + #debug.getinfo(1, 'S').what",
  ["debug.getlocal"] = "local _, v = debug.getlocal(1, 1) s = s + v",
  ["debug.setlocal"] = "local x = 1 debug.setlocal(1, 7, i) s = s + x",
  ["debug.getupvalue"] = "local x = 5 local function f() return x end | local _, v = debug.getupvalue(f, 1) s = s + v",
  ["debug.setupvalue"] = "local x = 5 local function f() return x end | debug.setupvalue(f, 1, i) s = s + f()",
  ["debug.upvalueid"] = "local x = 5 local function f() return x end | s = s + #type(debug.upvalueid(f, 1))",
  ["debug.upvaluejoin"] = "local x, y = 5, 6 local function f() return x end local function g() return y end | debug.upvaluejoin(f, 1, g, 1) s = s + f()",
  ["debug.sethook"] = "debug.sethook() s = s + i",
  ["debug.gethook"] = "s = s + (debug.gethook() and 1 or 2)",
  ["debug.debug"] = "debug.debug() s = s + i",
  ["debug.traceback"] = "s = s + #debug.traceback('x', 1)",
  ["buffer.method.free"] = "local b = buffer.new() | b:put(i) b:free() s = s + #b",
  ["buffer.method.reset"] = "local b = buffer.new() | b:put(i) b:reset() s = s + #b",
  ["buffer.method.skip"] = "local b = buffer.new() | b:put('abc') b:skip(2) s = s + #b",
  ["buffer.method.set"] = "local b = buffer.new() | b:set('abc') s = s + #b",
  ["buffer.method.put"] = "local b = buffer.new(1e5) | b:put(i) s = s + 1",
  ["buffer.method.putf"] = "local b = buffer.new(1e5) | b:putf('%d', i) s = s + 1",
  ["buffer.method.get"] = "local b = buffer.new() | b:put(i) s = s + #b:get()",
  ["buffer.method.putcdata"] = "local c, b = require 'ffi'.new('char[4]', 'abc'), buffer.new() | b:reset():putcdata(c, 3) s = s + #b",
  ["buffer.method.reserve"] = "local b = buffer.new() | local p, len = b:reserve(8) s = s + (len >= 8 and 1 or 2)",
  ["buffer.method.commit"] = "local b = buffer.new() | b:reset():reserve(8) b:commit(3) s = s + #b",
  ["buffer.method.ref"] = "local b = buffer.new():put('abc') | local p, len = b:ref() s = s + len",
  ["buffer.method.encode"] = "local b = buffer.new() | b:encode(i) s = s + #b",
  ["buffer.method.decode"] = "local b = buffer.new() | s = s + b:encode(i):decode()",
  ["buffer.method.__gc"] = "local b = buffer.new() local gc = debug.getmetatable(b).__gc | gc(b) s = s + #b",
  ["buffer.method.__tostring"] = "local b = buffer.new():put('abc') | s = s + #tostring(b)",
  ["buffer.method.__len"] = "local b = buffer.new():put('abc') | s = s + #b",
  ["buffer.new"] = "s = s + #buffer.new()",
  ["buffer.encode"] = "s = s + #buffer.encode(i)",
  ["buffer.decode"] = "local x = buffer.encode(5) | s = s + buffer.decode(x)",
  ["string.len"] = "local x = 'abc' | s = s + x:len()",
  ["math.deg"] = "s = s + math.deg(i)",
  ["math.rad"] = "s = s + math.rad(i)",
  ["table.getn"] = "local t = { 1, 2 } | s = s + table.getn(t)",
  ["table.remove"] = "local t = {} for i = 1, n do t[i] = i end | s = s + table.remove(t)",
  ["io.lines_aux"] = "local f = io.tmpfile() f:write(('1\\n'):rep(n)) f:seek('set') : for l in f:lines() do s = s + #l end",
  ["table.move"] = "local t = { 1, 2, 3 } | s = s + #table.move(t, 1, 3, i % 3 + 1)",
  ["ffi.meta.__tostring"] = "local ffi = require 'ffi' local p = ffi.new('int64_t', 5) | s = s + #tostring(p)",
  ["ffi.meta.__index"] = "local ffi = require 'ffi' local a = ffi.new('int[4]', 1, 2, 3, 4) | s = s + a[i % 4]",
  ["ffi.meta.__newindex"] = "local ffi = require 'ffi' local a = ffi.new('int[4]') | a[i % 4] = i s = s + a[0]",
  ["ffi.meta.__call"] = "local ffi = require 'ffi' local int = ffi.typeof 'int' | s = s + tonumber(int(i))",
  ["ffi.meta.__len"] = "local ffi = require 'ffi' local t = ffi.metatype('struct { int n; }', { __len = function(t) return t.n end }) local v = t(3) | s = s + #v",
  ["ffi.meta.__concat"] = "local ffi = require 'ffi' local t = ffi.metatype('struct { int n; }', { __concat = function() return 'text' end }) local v = t(3) | s = s + #(v .. i)",
  ["ffi.meta.__pairs"] = "local ffi = require 'ffi' local t = ffi.metatype('struct { int n; }', { __pairs = function() return next, { 4 } end }) local v = t(3) local pairs = debug.getmetatable(v).__pairs | local f, u = pairs(v) s = s + u[1]",
  ["ffi.meta.__ipairs"] = "local ffi = require 'ffi' local t = ffi.metatype('struct { int n; }', { __ipairs = function() return next, { 4 } end }) local v = t(3) local ipairs = debug.getmetatable(v).__ipairs | local f, u = ipairs(v) s = s + u[1]",
  ["ffi.cdef"] = "local ffi = require 'ffi' | ffi.cdef 'int abs(int);' s = s + i",
  ["ffi.new"] = "local ffi = require 'ffi' | s = s + tonumber(ffi.new('int', i))",
  ["ffi.cast"] = "local ffi = require 'ffi' | s = s + tonumber(ffi.cast('int8_t', i))",
  ["ffi.typeof"] = "local ffi = require 'ffi' | s = s + ffi.sizeof(ffi.typeof 'int')",
  ["ffi.typeinfo"] = "local ffi = require 'ffi' | s = s + ffi.typeinfo(1).info % 7",
  ["ffi.istype"] = "local ffi = require 'ffi' local x = ffi.new 'int' | s = s + (ffi.istype('int', x) and 1 or 2)",
  ["ffi.sizeof"] = "local ffi = require 'ffi' | s = s + ffi.sizeof 'int64_t'",
  ["ffi.alignof"] = "local ffi = require 'ffi' | s = s + ffi.alignof 'int64_t'",
  ["ffi.offsetof"] = "local ffi = require 'ffi' local t = ffi.typeof 'struct { int a, b; }' | s = s + ffi.offsetof(t, 'b')",
  ["ffi.errno"] = "local ffi = require 'ffi' ffi.errno(5) | s = s + ffi.errno()",
  ["ffi.string"] = "local ffi = require 'ffi' local a = ffi.new('char[4]', 'abc') | s = s + #ffi.string(a)",
  ["ffi.copy"] = "local ffi = require 'ffi' local a = ffi.new 'char[4]' | ffi.copy(a, 'abc') s = s + a[1]",
  ["ffi.fill"] = "local ffi = require 'ffi' local a = ffi.new 'char[4]' | ffi.fill(a, 4, i % 100) s = s + a[1]",
  ["ffi.abi"] = "local ffi = require 'ffi' | s = s + (ffi.abi '64bit' and 1 or 2)",
  ["ffi.metatype"] = "local ffi = require 'ffi' | s = s + #tostring(ffi.metatype('struct { int n; }', {}))",
  ["ffi.gc"] = "local ffi = require 'ffi' local p = ffi.new 'int[2]' | s = s + ffi.sizeof(ffi.gc(p, nil))",
  ["ffi.load"] = "local ffi = require 'ffi' | s = s + #type(ffi.load 'c.so.6')",
  ["ffi.clib.__index"] = "local ffi = require 'ffi' ffi.cdef 'int abs(int);' local C = ffi.C | s = s + #type(C.abs)",
  ["ffi.clib.__newindex"] = "local ffi = require 'ffi' ffi.cdef 'int optind;' local C = ffi.C | C.optind = i s = s + C.optind",
  ["ffi.callback.free"] = "local ffi = require 'ffi' | ffi.cast('int (*)(int)', function() return 1 end):free() s = s + i",
  ["ffi.callback.set"] = "local ffi = require 'ffi' local c = ffi.cast('int (*)(int)', function() return 1 end) | c:set(function() return 2 end) s = s + i",
  ["ffi.meta.__add"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x + i)",
  ["ffi.meta.__sub"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x - i)",
  ["ffi.meta.__mul"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x * i)",
  ["ffi.meta.__div"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x / i)",
  ["ffi.meta.__mod"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x % i)",
  ["ffi.meta.__pow"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(x ^ i)",
  ["ffi.meta.__unm"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | s = s + tonumber(-x)",
  ["ffi.meta.__eq"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | if x == i then s = s + 1 end",
  ["ffi.meta.__lt"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | if x < i then s = s + 1 end",
  ["ffi.meta.__le"] = "local ffi = require 'ffi' local x = ffi.new('int64_t', 7) | if x <= i then s = s + 1 end",
}

local op = require("ir").op
local function name_of(f)
  local info = type(f) == "function" and util.funcinfo(f)
  return info and info.ffid and vmdef.ffnames[info.ffid]
end

-- What the compiler tells while a case runs.
local aborts, made, path
jit.attach(function(what, number, func, pc, code, info)
  if what == "start" then
    path = { pc = pc, parent = code, exit = info, builtins = {} }
  elseif what == "abort" and (path.pc == 0 or vmdef.traceerr[code] == "JIT compilation disabled for function") then
    -- Not the loop but the function around it, which is hot by chance, as hot counters are shared; or what comes after the loop.
  elseif what == "abort" then
    aborts[#aborts + 1] = tostring(vmdef.traceerr[code]) .. " " .. tostring(name_of(info) or info)
  elseif what == "stop" then
    path.link, path.before, path.number, path.natives = util.traceinfo(number).linktype, name_of(func), number, 0
    for ref = 1, util.traceinfo(number).nins do
      if op(number, ref) == "NATIVE" then path.natives = path.natives + 1 end
    end
    made[#made + 1] = path
  end
end, "trace")
jit.attach(function(_, func) if name_of(func) then path.builtins[name_of(func)] = true end end, "record")

-- What the traces must be, by the word of the table.
local expected = {
  record = function(name, trace) return trace.builtins[name] and trace.natives == 0 and trace.link == "loop" end,
  call = function(name, trace) return trace.builtins[name] and trace.natives > 0 and trace.link == "loop" end,
  enter = function(name, trace) return trace.builtins[name] and trace.link == "loop" end,
  stitch = function(name, trace)
    if trace.link ~= "stitch" or trace.before ~= name then return false end
    for _, next in ipairs(made) do
      if next.parent == trace.number and next.exit == -1 then return true end
    end
    return false
  end,
  ["end"] = function(_, trace) return trace.link == "interpreter" end,
}
jit.off(expected.stitch)
for _, f in pairs(expected) do jit.off(f) end

local function run(f)
  local result
  local co = coroutine.create(function() result = f(300) end)
  repeat assert(coroutine.resume(co)) until coroutine.status(co) == "dead"
  return result
end
local failures = {}
local function try(name, word)
  local case = assert(cases[name], name .. ": a builtin without a case")
  local before, own, body = case:match "^(.-) ([|:]) (.*)$"
  body = body or case
  if own ~= ":" then body = "for i = 1, n do " .. body .. " end" end
  local text = ("local n = ... local s = 0 %s %s return s"):format(before or "", body)
  local f = assert(loadstring("local buffer = require 'string.buffer' return function(...) " .. text .. " end", "=" .. name))()
  jit.off(f, true)
  local interpreted = run(f)
  jit.on(f, true)
  jit.flush()
  aborts, made = {}, {}
  local compiled = run(f)
  local fits = false
  for _, trace in ipairs(made) do fits = fits or expected[word](name, trace) end
  local function fail(why)
    local told = {}
    for _, t in ipairs(made) do
      local names = {}
      for n in pairs(t.builtins) do names[#names + 1] = n end
      told[#told + 1] = t.link .. " " .. tostring(t.before) .. " natives " .. t.natives .. " with " .. table.concat(names, " ")
    end
    failures[#failures + 1] = ("%s (%s): %s [%s] %s"):format(name, word, why, table.concat(told, "; "), table.concat(aborts, ", "))
  end
  if tostring(interpreted) ~= tostring(compiled) then fail(tostring(compiled) .. ", interpreted " .. tostring(interpreted)) end
  if #aborts > 0 then fail "aborted" end
  if not fits then fail "not as the table says" end
end
-- A loop may fail by chance, as the hot counters are shared and by address: what counts is what happens again.
local function check(name, word)
  local before = #failures
  for attempt = 1, 3 do
    for i = #failures, before + 1, -1 do failures[i] = nil end
    try(name, word)
    if #failures == before then return end
  end
end
for _, argument in ipairs { ... } do check(argument:match "^(.*)=(.*)$") end
assert(#failures == 0, "\n" .. table.concat(failures, "\n"))
print "ok"
