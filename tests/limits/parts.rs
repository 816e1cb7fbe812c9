//! Work that takes long in one piece is done in parts: an interrupt ends it between two of them, and what is left is as if it had not begun.

use super::random::{Ends, Order, Random, end_by_interrupt, interrupt_on_order};
use super::{state, works};
use perilune::Lua;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Each makes `work`, almost all of whose time goes into one step that takes milliseconds.
const PROGRAMS: [(&str, &str); 19] = [
    ("a hash part grows", "function work() local t = {} for i = 1, 140000 do t[i + 0.5] = i end end"),
    ("an array part grows", "function work() local t = {} for i = 1, 2100000 do t[i] = i end end"),
    ("rawset", "function work() local t = {} for i = 1, 140000 do rawset(t, i + 0.5, i) end end"),
    ("table.new", "local new = require 'table.new' function work() return new(5e6, 5e5) end"),
    ("string.rep", "function work() for i = 1, 2 do local s = ('ab'):rep(1e7 + i) end end"),
    ("string.upper", "local s = ('ab'):rep(1e7) function work() for i = 1, 2 do local s = s:upper() end end"),
    ("string.reverse", "local s = ('ab'):rep(1e7) function work() for i = 1, 2 do local s = s:reverse() end end"),
    ("string.sub", "local s = ('ab'):rep(2e7) function work() for i = 2, 4 do local s = s:sub(i) end end"),
    ("concatenation", "local s = ('ab'):rep(5e6) function work() for i = 1, 2 do local s = s .. i .. s end end"),
    ("table.concat", "local s = ('ab'):rep(1e7) local t = {s, s, 1} function work() return table.concat(t) end"),
    ("a quoted string", "local s = ('ab'):rep(5e6) function work() return ('%q'):format(s) end"),
    (
        "a buffer",
        "local s, b = ('ab'):rep(1e7), require 'string.buffer'.new()
         function work() b:reset() b:put(s, s, 1) return b:tostring() end",
    ),
    (
        "an insertion into a hash part",
        "t = require 'table.new'(0, 400000) for i = 1, 400000 do t[i] = i end function work() table.insert(t, 1, 0) end",
    ),
    (
        "a removal from a hash part",
        "t = require 'table.new'(0, 400000) for i = 1, 400000 do t[i] = i end function work() table.remove(t, 1) end",
    ),
    (
        "a value is encoded",
        "local t, encode = {}, require 'string.buffer'.encode for i = 1, 1e5 do t[i] = {i} end function work() return encode(t) end",
    ),
    (
        "a value is decoded",
        "local t, buffer = {}, require 'string.buffer' for i = 1, 1e5 do t[i] = {i} end
         local s = buffer.encode(t) function work() return buffer.decode(s) end",
    ),
    (
        "a heap snapshot",
        "local misc = require 'misc' t = {} for i = 1, 3e4 do t[i] = {i} end function work() misc.heapsnapshot('/dev/null') end",
    ),
    (
        "a heap dump of one table",
        "local misc, t = require 'misc', require 'table.new'(4e6, 0) for i = 1, 1e6 do t[i] = 'x' end
         function work() t[0] = misc.heapdump('/dev/null') end",
    ),
    (
        "a weak table",
        "keys, weak = {}, setmetatable({}, {__mode = 'k'})
         for i = 1, 200000 do keys[i] = {} weak[keys[i]] = i end
         function work() collectgarbage() end",
    ),
];

/// Interrupts `work` so many times at random; how long it went on, and how long it takes when it is not interrupted.
fn interrupt_work(name: &str, lua: &Lua, times: u32, send: &mpsc::Sender<Order>) -> (Ends, Duration) {
    let program = || lua.load("work()").exec();
    let (mut random, mut ends) = (Random(7), Ends::default());
    program().unwrap_or_else(|e| panic!("{name}: {e}"));
    let begun = Instant::now();
    program().unwrap_or_else(|e| panic!("{name}: {e}"));
    let whole = begun.elapsed();
    for _ in 0..times {
        let wait = Duration::from_nanos(random.below(whole.as_nanos() as u64));
        ends = ends.max(end_by_interrupt(name, lua, program, wait, send));
        works(lua, name);
        lua.load("if check then check() end").exec().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    program().unwrap_or_else(|e| panic!("{name}: {e}"));
    (ends, whole)
}

#[test]
fn long_work_is_not_waited_for() {
    let (send, receive) = mpsc::channel::<Order>();
    let other = std::thread::spawn(move || interrupt_on_order(receive));
    for (name, program) in PROGRAMS {
        for mode in ["interpreted", "at once"] {
            let lua = state(mode);
            lua.interrupt_handle();
            lua.load(program).exec().unwrap_or_else(|e| panic!("{name}: {e}"));
            // The processor may be taken away for longer than the work takes: once without that is enough.
            let is_soon = (0..5).any(|_| {
                let (ends, whole) = interrupt_work(name, &lua, 3, &send);
                println!("{name}, {mode}: {ends:?} of {whole:?}");
                ends.most_work < whole / 3
            });
            assert!(is_soon, "{name}, {mode}: interrupts are waited for");
        }
    }
    drop(send);
    other.join().expect("the other thread");
}

/// A store whose table was growing when the interrupt came was not done, and all before it were: also where compiled code did them.
#[test]
fn a_table_that_grows_loses_nothing() {
    let (send, receive) = mpsc::channel::<Order>();
    let other = std::thread::spawn(move || interrupt_on_order(receive));
    for (name, key, store) in [
        ("a hash part", "i + 0.5", "t[i + 0.5] = i"),
        ("an array part", "i", "t[i] = i"),
        ("both", "i", "t[i] = i t[-i] = i"),
        ("rawset", "i + 0.5", "rawset(t, i + 0.5, i)"),
        ("table.insert", "i", "table.insert(t, i)"),
    ] {
        let program = format!(
            "function work() t = nil n = 0 t = {{}} for i = 1, 30000 do {store} n = i end end
             function check()
               if not t then return end -- The interrupt came before there was a table.
               for i = 1, n do assert(t[{key}] == i, i) end
               local count = 0
               for k, i in pairs(t) do assert(i <= n + 1) count = count + 1 end
               local each = t[-1] and 2 or 1
               assert(count >= each * n and count <= each * (n + 1), count)
               for i = 1, 10 do t['more' .. i] = i end
               for i = 1, 10 do assert(t['more' .. i] == i) end
             end"
        );
        for mode in ["interpreted", "as usual", "at once", "evaluated"] {
            let lua = state(mode);
            lua.interrupt_handle();
            lua.load(&*program).exec().expect("a program");
            let mut random = Random(3);
            for _ in 0..8 {
                let name = format!("{name}, {mode}");
                let begun = Instant::now();
                lua.load("work()").exec().unwrap_or_else(|e| panic!("{name}: {e}"));
                let wait = Duration::from_nanos(random.below(begun.elapsed().as_nanos() as u64));
                end_by_interrupt(&name, &lua, || lua.load("work()").exec(), wait, &send);
                works(&lua, &name);
                lua.load("check()").exec().unwrap_or_else(|e| panic!("{name}: {e}"));
            }
        }
    }
    drop(send);
    other.join().expect("the other thread");
}

/// Where the interrupt comes while elements move, all are in the table once; one may be between its removal and its insertion.
#[test]
fn insertions_and_removals_lose_nothing() {
    let (send, receive) = mpsc::channel::<Order>();
    let other = std::thread::spawn(move || interrupt_on_order(receive));
    for (name, table) in [("an array part", "{}"), ("a hash part", "require 'table.new'(0, 100000)")] {
        let program = format!(
            "t = {table} for i = 1, 100000 do t[i] = i end
             function work() for i = 1, 20 do local x = table.remove(t, 2) table.insert(t, 1, x) end end
             function check()
               local seen, count = {{}}, 0
               for _, v in pairs(t) do assert(not seen[v], v) seen[v] = true count = count + 1 end
               assert(#t == count and count >= 99999, count)
               for i = 1, 100000 do if not seen[i] then t[100000] = i end end
             end"
        );
        for mode in ["interpreted", "at once"] {
            let lua = state(mode);
            lua.interrupt_handle();
            lua.load(&*program).exec().expect("a program");
            let ends = interrupt_work(name, &lua, 5, &send);
            println!("{name}, {mode}: {ends:?}");
        }
    }
    drop(send);
    other.join().expect("the other thread");
}

/// Compiled code makes substrings that are short, and leaves long ones to the interpreter.
#[test]
fn substrings_are_the_same_however_long() {
    let program = "local s, sum = ('abcdefg'):rep(2e5), 0
        for i = 1, 200 do
          local u = s:sub(i, i + (i % 3 == 0 and 524287 or i % 7 == 0 and 524288 or i))
          sum = (sum * 7 + #u + u:byte(1) + u:byte(-1)) % 1000003
        end
        return sum";
    let sums = ["interpreted", "as usual", "at once", "evaluated"].map(|mode| {
        let lua = state(mode);
        lua.interrupt_handle();
        lua.load(program).eval::<u32>().expect("a sum")
    });
    assert!(sums.iter().all(|s| *s == sums[0]), "{sums:?}");
}
