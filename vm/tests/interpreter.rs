//! Short Lua programs of each area, interpreted: few enough instructions for Miri (tests/miri.sh), which sees what the
//! interpreter, the collector and the libraries do with memory.

use perilune_vm::stdlib::StdLib;
use perilune_vm::{Value, Vm};

/// Runs a chunk, which returns true, with the collector at work meanwhile.
#[track_caller]
fn check(source: &str) {
    check_with(StdLib::ALL, source);
}

/// With some of the libraries only, which Miri takes less time to open and to collect.
#[track_caller]
fn check_with(libraries: StdLib, source: &str) {
    let mut vm = Vm::new();
    vm.open_selected_libs(libraries);
    vm.gc_set_stress(if cfg!(miri) { 40 } else { 1 });
    let f = vm.load_chunk(source.as_bytes(), b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
    match vm.call1(Value::func(f), &[]) {
        Ok(v) => assert_eq!(v, Value::TRUE),
        Err(_) => panic!("{}", String::from_utf8_lossy(&vm.error_text())),
    }
}

#[test]
fn arithmetic_and_control() {
    check_with(
        StdLib::BIT,
        "local s, t = 0, 1.5 for i = 10, 1, -3 do s = s + i * t end while s > 3 do s = s - 7 % 4 end repeat s = -s until s < 0
         if s == 0 then goto out end s = s * 2 ::out:: return s ~= 0 and 2147483649 % 2 == 1 and bit.band(7, 3) == 3",
    );
}

#[test]
fn calls_and_varargs() {
    check(
        "local function v(...) local a, b = ... return select('#', ...), b, ... end
         local function f(n, acc) if n == 0 then return acc end return f(n - 1, acc + n) end
         local function g(n) return n < 2 and n or g(n - 1) + g(n - 2) end
         local n, b, c = v(1, 2, 3) return n == 3 and b == 2 and c == 1 and f(20, 0) == 210 and g(7) == 13 and #{ v(1, 2) } == 4",
    );
}

#[test]
fn stacks_grow() {
    check_with(
        StdLib::NONE,
        "local function deep(n)
           if n == 0 then return 0 end
           local a, b, c, d, e, f, g, h = n, n, n, n, n, n, n, n
           return deep(n - 1) + a - h + 1
         end
         local co = coroutine.wrap(function(n) coroutine.yield(deep(n)) return deep(n) end)
         return deep(60) == 60 and co(40) == 40 and co() == 40",
    );
}

#[test]
fn closures_and_upvalues() {
    check_with(
        StdLib::NONE,
        "local fs = {} for i = 1, 4 do
           local k = i
           fs[i] = function(d) k = k + (d or 0) return k end
           fs[-i] = function() return k end
         end
         fs[2](10) do local x = {} fs.x = function() return x end end collectgarbage()
         return fs[-2]() == 12 and fs[3]() == 3 and type(fs.x()) == 'table'",
    );
}

#[test]
fn tables() {
    check(
        "local t = {} for i = 1, 40 do t[i] = i t['k' .. i] = { i } end for i = 1, 40, 2 do t['k' .. i] = nil end
         local n = 0 for k, v in pairs(t) do n = n + 1 end for i, v in ipairs(t) do n = n + v end
         table.insert(t, 1, 0) table.remove(t) table.sort(t, function(a, b) return a > b end)
         local u = { 1, 2, nil, 4, x = 1, [2.5] = 3, [-1] = 0 }
         return n == 60 + 820 and t[1] == 39 and u[4] == 4 and table.concat({ 1, 'a', 2 }, ',') == '1,a,2' and #t == 40",
    );
}

#[test]
fn metatables() {
    check(
        "local mt = {} mt.__index = function(t, k) return k end mt.__newindex = function(t, k, v) rawset(t, k, v) end
         mt.__call = function(self, ...) return ... end mt.__add = function(a, b) return 'sum' end
         mt.__concat = function() return 'cat' end mt.__eq = function() return true end mt.__lt = function() return true end
         mt.__tostring = function() return 'obj' end
         local o, p = setmetatable({}, mt), setmetatable({}, mt) o.y = 1
         local class = setmetatable({}, { __index = { m = function(self) return self end } })
         return o.x == 'x' and o + 1 == 'sum' and 1 .. o == 'cat' and o == p and o < p and o(5) == 5 and tostring(o) == 'obj'
           and class:m() == class",
    );
}

#[test]
fn strings() {
    check(
        "local s, n = ('abc'):rep(5, '-'), 0 for w in s:gmatch('%a+') do n = n + #w end
         local buffer = require 'string.buffer' local b = buffer.new():put('x', 1, 2.5):putf('%5.1f', 3)
         local e = buffer.encode { 1, { a = 'b' } }
         return n == 15 and s:gsub('b', { b = 'B' }):lower() == s and #('%q %5d %g'):format('a', 3, 1e300) > 9
           and s:find('c%-a') == 3 and s:byte(-1) == 99 and tostring(b) == 'x12.5  3.0' and buffer.decode(e)[2].a == 'b'
           and tonumber('0x1p4') == 16 and #s:reverse() == 19",
    );
}

#[test]
fn errors() {
    check(
        "local ok, e = pcall(function() local x = nil return x.y end)
         local _, e2 = xpcall(function() error({ 7 }) end, function(m) return m[1] end)
         local ok3, e3 = pcall(error) local _, e4 = pcall(string.rep)
         local function deep(n) if n == 0 then error('end', 2) end deep(n - 1) end local _, e5 = pcall(deep, 20)
         return not ok and e:find('nil value') ~= nil and e2 == 7 and not ok3 and e4:find('bad argument') ~= nil
           and e5:find('end') ~= nil",
    );
}

#[test]
fn coroutines() {
    check(
        "local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
         local s = 0 for i in gen(5) do s = s + i end
         local co = coroutine.create(function(a, b)
           local c = coroutine.yield(a + b)
           local ok, e = pcall(function() error(coroutine.yield(c), 0) end)
           return e
         end)
         local _, x = coroutine.resume(co, 1, 2) local _, y = coroutine.resume(co, 'c') local _, z = coroutine.resume(co, 'e')
         for i = 1, 5 do coroutine.wrap(function() coroutine.yield({}) end)() end
         return s == 15 and x == 3 and y == 'c' and z == 'e' and coroutine.status(co) == 'dead' and not coroutine.resume(co)",
    );
}

#[test]
fn the_collector() {
    check(
        "local weak, done = setmetatable({}, { __mode = 'k' }), 0
         for i = 1, 10 do
           weak[{}] = i
           local u = newproxy(true) getmetatable(u).__gc = function() done = done + 1 end
         end
         local eph, key = setmetatable({}, { __mode = 'k' }), {} eph[key] = { key } collectgarbage() collectgarbage()
         local left = 0 for _ in pairs(weak) do left = left + 1 end collectgarbage('step', 10)
         return left <= 1 and done >= 9 and eph[key][1] == key",
    );
}

#[test]
fn hooks_and_debug() {
    check(
        "local n = 0 debug.sethook(function() n = n + 1 end, '', 5) for i = 1, 30 do end debug.sethook()
         local function f(a) local b = a local name = debug.getlocal(1, 2) return name end
         local up = 5 local function g() return up end debug.setupvalue(g, 1, 6)
         return n > 3 and f(1) == 'b' and g() == 6 and debug.traceback('x'):find('x') == 1",
    );
}

#[test]
fn chunks() {
    check(
        "local f = load('local a, b = ... return a + b, function() return a end')
         local r, c = load(string.dump(f), 'd', 'b')(2, 3) local pieces, i = { 'return ', '1 + ', '1' }, 0
         local p = load(function() i = i + 1 return pieces[i] end)
         return r == 5 and c() == 2 and p() == 2 and load('return return') == nil and setfenv(load('return x'), { x = 7 })() == 7",
    );
}

#[test]
fn fields_are_found_where_they_are() {
    // One instruction reads, and one writes, whatever becomes of the table in which it last found the field.
    check(
        "local function get(o) return o.x end
         local function set(o, v) o.x = v end
         local o = { x = 1 }
         local function is(v) return get(o) == v and get(o) == v end
         local ok = is(1)
         o.x = nil ok = ok and is(nil)
         setmetatable(o, { __index = { x = 2 } }) ok = ok and is(2)
         getmetatable(o).__index = { y = 0, z = 0, x = 3 } ok = ok and is(3)
         getmetatable(o).__index = setmetatable({}, { __index = { x = 4 } }) ok = ok and is(4)
         getmetatable(o).__index = function() return 5 end ok = ok and is(5)
         getmetatable(o).__index = nil ok = ok and is(nil)
         set(o, 6) ok = ok and is(6)
         for i = 1, 20 do o['k' .. i] = i end ok = ok and is(6)
         for i = 1, 20 do o['k' .. i] = nil o['n' .. i] = i end ok = ok and is(6)
         setmetatable(o, { __newindex = function(t, k, v) rawset(t, k, v + 1) end })
         set(o, 7) ok = ok and is(7) o.x = nil set(o, 7) ok = ok and is(8)
         local strings = debug.getmetatable('')
         debug.setmetatable('', { __index = { x = 9 } }) ok = ok and get('s') == 9 and get('s') == 9
         debug.setmetatable('', { __index = { y = 0, x = 10 } }) ok = ok and get('s') == 10
         debug.setmetatable('', strings) ok = ok and get('s') == nil
         local function global() return x end
         setfenv(global, { x = 1 }) ok = ok and global() == 1 and global() == 1
         setfenv(global, { y = 0, z = 0, x = 2 }) ok = ok and global() == 2
         return ok and not pcall(get, nil) and not pcall(get, 1)",
    );
}

#[test]
fn fast_functions_return_to_any_caller() {
    check(
        "local abs, byte = math.abs, string.byte
         local a, b, c = abs(-1) abs(-1)
         local t = { abs(-2), abs(-3) }
         local function count(...) return select('#', ...), ... end
         local n, x, y = count(abs(-4), abs(-5))
         local m = setmetatable({}, { __index = abs, __unm = type, __call = rawequal })
         local co = coroutine.wrap(abs)
         local ok, p = pcall(abs, -6)
         local s = 0 for i, v in ipairs { 1, 2, 3 } do s = s + i * v end
         local e1, e2 = select(2, pcall(abs)), select(2, pcall(bit.band, 1, {}))
         return a == 1 and b == nil and c == nil and #t == 2 and t[2] == 3 and n == 2 and x == 4 and y == 5 and -m == 'table'
           and co(-7) == 7 and ok and p == 6 and s == 14 and count(select(2, 1, 2, 3)) == 2 and (select(-1, 1, 2)) == 2
           and byte('abc', 2) == 98 and byte('abc', -1) == 99 and byte('abc', 4) == nil and count(byte('abc', 1, 3)) == 3 and byte('', 0) == nil
           and e1:find 'number expected' and e2:find 'number expected' and assert(1, 2) == 1 and not pcall(assert, nil) and true",
    );
}

#[test]
fn fast_functions_of_numbers() {
    check(
        "local function same(a, b) return a == b and 1 / a == 1 / b end
         local m, nan = math, 0 / 0
         return same(m.floor(-0.0), -0.0) and same(m.ceil(-0.5), -0.0) and m.floor(-1.5) == -2 and m.ceil(1.5) == 2 and m.floor(2^53) == 2^53
           and m.floor(-2147483648.5) == -2147483649 and m.ceil(2147483647.5) == 2147483648 and m.floor(1 / 0) == 1 / 0
           and m.floor(nan) ~= m.floor(nan) and m.max(1, nan) ~= 1 and m.min(nan, 1) == 1 and m.max(2, 1.5) == 2 and m.min(2, 1.5) == 1.5
           and m.abs(-2147483648) == 2147483648 and m.sqrt(16) == 4 and m.sqrt(2)^2 - 2 < 1e-15 and m.sin(0) == 0 and m.fmod(-5, 3) == -2
           and bit.lshift(1, 33) == 2 and bit.rshift(-1, 28) == 15 and bit.arshift(-16, 2) == -4 and bit.rol(1, 31) == -2147483648
           and bit.band(2^32 + 5, 7) == 5 and bit.bxor(1, 2, 4) == 7 and bit.bnot(0) == -1 and bit.tobit(2^31) == -2147483648
           and bit.bswap(1) == 16777216 and tonumber(5.5) == 5.5 and tonumber('x') == nil and m.log(m.exp(1)) == 1 and m.log(8, 2) == 3",
    );
}
