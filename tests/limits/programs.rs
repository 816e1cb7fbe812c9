//! Hostile programs, by what they are after: time, memory, the native stack. Each with a name.

/// Programs without an end, or with one that nobody will see.
pub const ENDLESS: [(&str, &str); 65] = [
    ("loop", "while true do end"),
    ("counter", "local i = 0 while true do i = i + 1 end"),
    ("numeric loop", "for i = 1, math.huge do local x = i * 2 end"),
    ("loop that does not move", "for i = 1, 2, 1e-300 do end"),
    (
        "counted loops in chunks",
        "local function f(a, b, c) local s = 0 for i = a, b, c do s = s + i % 3 end end \
        while true do f(1, 2e9, 1) f(2e9, 1, -1) f(1, 2e9, 3) f(1, 5, 1) end",
    ),
    (
        "counted loop with a step of 0",
        "local function f(a, b, c) local s = 0 for i = a, b, c do s = (s + i) % 7 end end f(1, 1e5, 1) f(1, 5, 0)",
    ),
    ("nested loops", "while true do for i = 1, 100 do for j = 1, 100 do end end end"),
    (
        "loop that was short",
        "local function f(n) local s = 0 for i = 1, n do s = (s + i) % 1000 end end for k = 1, 1000 do f(100) end while true do f(2147483000) end",
    ),
    (
        "while that was short",
        "local function f(n) local i = 0 while i < n do i = i + 1 end end for k = 1, 1000 do f(100) end while true do f(2147483000) end",
    ),
    ("a command", "os.execute('exec sleep 1000')"),
    ("the wait for the command of a pipe that is collected", "io.popen('exec sleep 5', 'w') collectgarbage() while true do end"),
    ("the wait for a command", "local f = io.popen('exec sleep 5', 'w') f:close()"),
    ("repeat", "local a, b = 0, 1 repeat a, b = b, a until a == b"),
    ("goto", "::again:: goto again"),
    (
        "branches",
        "local n = 0 while true do n = (n * 7 + 1) % 1009 if n % 3 == 0 then n = n + 2 elseif n % 5 == 0 then n = n + 3 end end",
    ),
    (
        "short loops in branches",
        "local n = 0 while true do n = (n * 7 + 1) % 1009 if n % 3 == 0 then local k = 0 repeat k = k + 1 until k == 3 n = n + k \
         elseif n % 5 == 0 then for i = 1, n % 4 do n = n + i end end end",
    ),
    ("tail calls", "local function f(n) return f(n + 1) end f(0)"),
    ("mutual tail calls", "local f, g function f() return g() end function g() return f() end f()"),
    ("calls", "local function f() end while true do f() end"),
    (
        "calls of many functions",
        "local fs, st = {}, { n = 0 } for i = 1, 12 do fs[i] = loadstring('return function(st) st.n = st.n + ' .. i .. ' end')() end
        while true do for i = 1, 12 do fs[i](st) end end",
    ),
    (
        "tail calls of many functions",
        "local ops = {} for i = 1, 12 do ops[i] = loadstring('local ops = ... return function(n) return ops[n % 12 + 1](n + 1) end')(ops) end
        ops[1](0)",
    ),
    ("calls of builtins", "while true do math.floor(1.5) tostring(nil) end"),
    ("recursion and return", "local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end while true do f(50) end"),
    ("exponential recursion", "local function f(n) if n == 0 then return 1 end return f(n - 1) + f(n - 1) end f(100)"),
    (
        "Ackermann",
        "local function a(m, n) if m == 0 then return n + 1 elseif n == 0 then return a(m - 1, 1) end return a(m - 1, a(m, n - 1)) end \
         while true do pcall(a, 4, 3) end",
    ),
    ("caught", "while true do pcall(function() while true do end end) end"),
    ("caught with a handler", "while true do xpcall(function() while true do end end, function(e) while true do end end) end"),
    ("caught at each level", "local function f() while true do pcall(f) end end f()"),
    ("caught by coroutines", "while true do coroutine.resume(coroutine.create(function() while true do end end)) end"),
    ("raised again", "local function f() local ok, e = pcall(function() while true do end end) return f() end f()"),
    ("errors", "while true do pcall(error, 'x') pcall(function() local x = nil + 1 end) end"),
    ("error values that are slow", "local e = setmetatable({}, {__tostring = function() while true do end end}) error(e)"),
    ("coroutines", "local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end"),
    ("new coroutines", "while true do coroutine.wrap(function(...) coroutine.yield(...) end)(1, 2, 3) end"),
    (
        "coroutines in turn",
        "local a, b a = coroutine.wrap(function() while true do b() coroutine.yield() end end) b = coroutine.wrap(function() while \
         true do coroutine.yield() end end) while true do a() end",
    ),
    (
        "metamethods",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) pcall(function() return t[1] end) while true do \
         local x = rawequal(t, t) end",
    ),
    (
        "operators",
        "local t t = setmetatable({}, {__add = function(a) return a end, __eq = function() while true do end end}) local u = t + 1 + 2 \
         return t == setmetatable({}, getmetatable(t))",
    ),
    (
        "__index that calls itself",
        "local t t = setmetatable({}, {__index = function(_, k) while true do pcall(function() return t[k] end) end end}) return t.x",
    ),
    ("iterator", "local function iter(s, c) return c + 1 end for i in iter, nil, 0 do end"),
    ("pairs", "local t = {1, 2, 3} while true do for k in pairs(t) do t[k] = k end end"),
    ("next", "local t = {a = 1} while true do local k = next(t) k = next(t, k) end"),
    ("sort", "local t = {} for i = 1, 300 do t[i] = i % 7 end while true do table.sort(t, function(a, b) return a < b end) end"),
    ("sort that is slow", "local t = {} for i = 1, 50 do t[i] = i end table.sort(t, function(a, b) while true do end end)"),
    ("sort of many", "local t = {} for i = 1, 1e5 do t[i] = i * 7919 % 10007 end while true do table.sort(t) t[1] = 0.5 end"),
    ("insert far away", "table.insert({1}, -2^31 + 1, 1) while true do end"),
    ("move far away", "table.move({1}, -2^31, 2^31 - 2, -2^31 + 1, {}) while true do end"),
    ("concat", "local s = '' while true do s = (s .. 'x'):sub(-100) end"),
    ("join", "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.concat(t, ' ') end"),
    ("rep", "while true do ('xy'):rep(1e6) end"),
    ("gsub", "while true do (('x'):rep(100)):gsub('x', function(c) return c end) end"),
    ("gsub of a long text", "local s = ('x'):rep(1e6) while true do s:gsub('.', 'y') end"),
    ("gsub that is slow", "('x'):gsub('x', function() while true do end end)"),
    ("gmatch", "local s = ('ab '):rep(1e5) while true do for w in s:gmatch('%a+') do end end"),
    ("plain search", "local s = ('x'):rep(4e6) while true do s:find('xy', 1, true) end"),
    ("backtracking", "local s = ('a'):rep(30000) return s:find(('a*'):rep(6) .. 'b')"),
    ("lazy backtracking", "local s = ('a'):rep(30000) return s:find('.-.-.-.-b')"),
    ("balance", "local s = ('('):rep(300000) return s:find('%b()')"),
    ("numbers", "local s = ('9'):rep(1e5) while true do tonumber(s) end"),
    ("format", "while true do ('%99.99f'):format(1e300) end"),
    (
        "finalizer",
        "local p = newproxy(true) getmetatable(p).__gc = function() while true do end end p = nil collectgarbage() while true do end",
    ),
    (
        "finalizers without end",
        "local function new() local p = newproxy(true) getmetatable(p).__gc = function() new() end end new() while true do collectgarbage() end",
    ),
    ("collections", "local t = {} for i = 1, 1e4 do t[i] = {i} end while true do collectgarbage() end"),
    ("load", "while true do load('return 1')() end"),
    ("load of a long text", "local s = ('x = 1 '):rep(1e5) while true do load(s) end"),
    ("tables", "while true do local t = {} for i = 1, 100 do t[i] = {i} end end"),
];

/// Programs that want more memory than the limit.
pub const LARGE: [(&str, &str); 28] = [
    (
        "nested coroutines",
        "local function f(n) if n == 0 then return 1 end return 1, coroutine.resume(coroutine.create(f), n - 1) end f(20000)",
    ),
    ("nested wraps", "local function f(n) if n == 0 then return 1 end return 1, coroutine.wrap(f)(n - 1) end f(20000)"),
    ("endless coroutines", "local function f() return coroutine.wrap(f)() end pcall(f)"),
    ("coroutines", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end end)"),
    (
        "deep coroutines",
        "pcall(function() local t = {} local function f(n) if n > 0 then return 1 + f(n - 1) end coroutine.yield() end for i = 1, 1e9 \
         do t[i] = coroutine.wrap(f) t[i](1000) end end)",
    ),
    ("deep recursion", "pcall(function() local function f(...) return 1 + f(1, ...) end f() end)"),
    ("table.new, fields", "pcall(require 'table.new', 0, 2^26)"),
    ("table.new, elements", "pcall(require 'table.new', 2^26, 0)"),
    (
        "load in pieces",
        "local n = 0 load(function() n = n + 1 return n == 1 and 'return {' or n < 3e6 and (\"'s\" .. n .. \"',\") or nil end)",
    ),
    ("load of one name", "load(function() return 'x' end)"),
    (
        "load of one string",
        "local first = true load(function() if first then first = false return '\"' end return ('x'):rep(1e5) end)",
    ),
    ("many functions", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = assert(load('return ' .. i)) end end)"),
    ("doubling", "pcall(function() local s = 'x' while true do s = s .. s end end)"),
    ("list", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = i end end)"),
    ("fields", "pcall(function() local t = {} for i = 1, 1e9 do t['f' .. i] = i end end)"),
    ("nested tables", "pcall(function() local t = {} while true do t = {t} end end)"),
    ("closures", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = function() return i end end end)"),
    ("proxies", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = newproxy(true) end end)"),
    ("rep", "pcall(string.rep, 'x', 2^30)"),
    ("rep with a separator", "pcall(string.rep, 'x', 2^20, ('y'):rep(2^12))"),
    ("join", "local s = ('x'):rep(1e6) local t = {} for i = 1, 500 do t[i] = s end pcall(table.concat, t)"),
    ("gsub that grows", "local s = ('x'):rep(1e5) pcall(string.gsub, s, 'x', ('y'):rep(1e4))"),
    ("gsub with captures", "local s = ('x'):rep(1e5) pcall(string.gsub, s, '.*', ('%0'):rep(1e4))"),
    (
        "format",
        "local s = ('x'):rep(1e6) pcall(string.format, ('%s'):rep(200), unpack((function() local t = {} for i = 1, 200 do t[i] = s end \
         return t end)()))",
    ),
    ("buffer", "local b = require 'string.buffer'.new() pcall(function() while true do b:put(('x'):rep(1e5)) end end)"),
    ("reading without end", "local f = io.open('/dev/zero') pcall(f.read, f, '*a') pcall(f.read, f, 1e9)"),
    ("a chunk without end", "pcall(loadfile, '/dev/zero')"),
    (
        "garbage while the collector is stopped",
        "collectgarbage('stop') pcall(function() for i = 1, 3e6 do local t = {i} end end)",
    ),
];

/// Programs that nest calls of the interpreter, the parser or the collector.
pub const DEEP: [(&str, &str); 12] = [
    ("recursion", "local function f() return 1 + f() end return pcall(f)"),
    ("recursion through pcall", "local function f() return pcall(f) end return f()"),
    (
        "recursion through a metamethod",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] + 1 end}) return pcall(function() return t[1] end)",
    ),
    (
        "recursion through tostring",
        "local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) .. '' end return pcall(tostring, t)",
    ),
    ("recursion through gsub", "local function f(c) return (c:gsub('.', f)) end return pcall(f, 'x')"),
    ("recursion through sort", "local function f() table.sort({1, 2, 3}, function() f() end) end return pcall(f)"),
    ("recursion through coroutines", "local function f() return coroutine.wrap(f)() end return pcall(f)"),
    ("recursion through load", "local function f() return load(f) end return pcall(f)"),
    (
        "recursion through finalizers",
        "local n = 0 local function f() n = n + 1 if n > 300 then return end local p = newproxy(true) getmetatable(p).__gc = f p = nil \
         collectgarbage() end f()",
    ),
    ("parentheses", "return load('return ' .. ('('):rep(1e5) .. '1' .. (')'):rep(1e5))"),
    ("nested constructors", "return load('return ' .. ('{'):rep(1e5))"),
    (
        "a long list of objects",
        "local t = {} for i = 1, 1e5 do t = {t} end collectgarbage() t = setmetatable({}, {__index = t}) for i = 1, 1e4 do t = \
         setmetatable({}, {__index = t}) end return pcall(function() return t.x end)",
    ),
];
