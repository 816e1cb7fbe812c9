//! Short Lua programs of each area, interpreted: few enough instructions for Miri (tests/miri.sh), which sees what the
//! interpreter, the collector and the libraries do with memory.

use perilune_vm::{Value, Vm};

/// Runs a chunk, which returns true, with the collector at work meanwhile.
#[track_caller]
fn check(source: &str) {
    let mut vm = Vm::new();
    vm.open_libs();
    vm.gc_set_stress(if cfg!(miri) { 40 } else { 1 });
    let f = vm.load_chunk(source.as_bytes(), b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
    match vm.call1(Value::func(f), &[]) {
        Ok(v) => assert_eq!(v, Value::TRUE),
        Err(_) => panic!("{}", String::from_utf8_lossy(&vm.error_text())),
    }
}

#[test]
fn arithmetic_and_control() {
    check(
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
    check(
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
    check(
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
