//! The memory profiler: what its stream says is what happened on the heap, whatever ran, and it copes with whatever goes wrong.

mod written;

use perilune::Lua;
use perilune::observe::memprof::{Error, Options};
use perilune::observe::stream::read::{Event, Location, Memory, Stream, Symbol};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use written::Written;

/// What a stream says.
#[derive(Default, Debug)]
struct Profile {
    /// Memory that was allocated and not freed since, by address.
    live: HashMap<u64, u64>,
    /// Bytes allocated less bytes freed.
    change: i64,
    /// Allocations by place: chunk and line, or what else it was.
    allocs: HashMap<String, usize>,
    reallocs: HashMap<String, usize>,
    frees: HashMap<String, usize>,
}

impl Profile {
    /// Reads a complete stream, and checks that each address means one piece of memory at a time.
    fn read(bytes: &[u8]) -> Profile {
        let mut p = Profile::default();
        let mut stream = Stream::open(bytes).unwrap();
        let (mut protos, mut natives, mut traces) = (HashMap::new(), HashMap::new(), HashMap::new());
        while let Some(event) = stream.next().unwrap() {
            let place = |at| match at {
                Location::Internal => "internal".to_owned(),
                Location::Lua(proto, line) => format!("{}:{line}", protos.get(&proto).expect("a prototype with a symbol")),
                Location::Native(code) => format!("native {}", natives.get(&code).expect("a symbol")),
                Location::Trace(n) => format!("trace {n} at {}", traces.get(&n).expect("a trace with a symbol")),
            };
            match event {
                Event::Symbol(Symbol::Proto { address, chunk, .. }) => {
                    protos.insert(address, String::from_utf8_lossy(&chunk).into_owned());
                }
                Event::Symbol(Symbol::Native { address, name }) => {
                    natives.insert(address, String::from_utf8_lossy(&name).into_owned());
                }
                Event::Symbol(Symbol::Trace { number, proto, line }) => {
                    traces.insert(number, format!("{}:{line}", protos[&proto]));
                }
                Event::Alloc(at, memory) => {
                    *p.allocs.entry(place(at)).or_default() += 1;
                    p.add(memory);
                }
                Event::Free(at, memory) => {
                    *p.frees.entry(place(at)).or_default() += 1;
                    p.remove(memory);
                }
                Event::Realloc(at, from, to) => {
                    *p.reallocs.entry(place(at)).or_default() += 1;
                    p.remove(from);
                    p.add(to);
                }
            }
        }
        assert_eq!(stream.offset(), bytes.len() as u64, "nothing follows");
        p
    }
    fn add(&mut self, (address, size): Memory) {
        assert!(address != 0 && size != 0);
        assert_eq!(self.live.insert(address, size), None, "allocated twice");
        self.change += size as i64;
    }
    fn remove(&mut self, (address, size): Memory) {
        // What was there before the profile is not known.
        if let Some(known) = self.live.remove(&address) {
            assert_eq!(known, size, "freed with another size");
        }
        self.change -= size as i64;
    }
}

/// Runs a program under the profiler: what the stream says, and by how many bytes the heap has grown.
fn profile(lua: &Lua, lines: bool, program: &str) -> (Profile, i64) {
    let to = Written::default();
    let before = lua.used_memory();
    lua.start_memprof(Options::new(to.clone()).lines(lines)).unwrap();
    let started = lua.used_memory();
    assert_eq!(before, started, "profiling needs nothing of the heap");
    let result = lua.load(program).set_name("@program").exec();
    let grown = lua.used_memory() as i64 - before as i64;
    lua.stop_memprof().unwrap();
    result.unwrap();
    (Profile::read(&to.bytes()), grown)
}

/// The modes of all programs.
fn states() -> [Lua; 3] {
    let off = Lua::new();
    off.set_jit(false);
    let early = Lua::new();
    early.jit_option("hotloop=1").unwrap();
    early.jit_option("hotexit=1").unwrap();
    [off, Lua::new(), early]
}

/// Allocates four objects TIMES times in a loop, then a bit of everything.
const MANY: &str = "
    local kept = {}
    for i = 1, TIMES do
        local t = {i, x = i}
        kept[i % 1000] = {t, tostring(i), function() return t end}
    end
    local s = {}
    for i = 1, 1000 do s[#s + 1] = ('x'):rep(i) .. i end
    local co = coroutine.wrap(function(...) local n = select('#', ...) for i = 1, 10 do coroutine.yield({n, i}) end end)
    for i = 1, 10 do co(unpack(s, 1, 200)) end
    local f = assert(loadstring('local a = ... return function() return {a} end'))
    for i = 1, 1000 do kept[i] = f(i)() end
    local b = require('string.buffer').new()
    for i = 1, 5000 do b:put('some text ', i) end
    kept = nil
    collectgarbage()
    more = {b:get(), {}, setmetatable({}, {__gc = true}), newproxy(true)}
";

#[test]
fn the_sum_of_a_million_events_is_the_change_of_the_heap() {
    for (mode, lua) in states().into_iter().enumerate() {
        for lines in [false, true] {
            // A million in the usual mode, whose traces make most of them; to read so many takes the test five seconds.
            let times = if mode == 1 && !lines { 250_000 } else { 25_000 };
            let (p, grown) = profile(&lua, lines, &MANY.replace("TIMES", &times.to_string()));
            assert_eq!(p.change, grown, "mode {mode}, lines {lines}");
            assert!(p.allocs.values().sum::<usize>() > 4 * times, "mode {mode}, lines {lines}");
            let traces: usize = p.allocs.iter().filter(|a| a.0.starts_with("trace")).map(|a| a.1).sum();
            assert_eq!(traces > 2 * times, mode != 0 && !lines, "mode {mode}, lines {lines}: {traces}");
            assert_eq!(traces == 0, mode == 0 || lines);
        }
    }
}

#[test]
fn allocations_are_attributed_to_lines_in_all_modes() {
    const PROGRAM: &str = "local a = {}
for i = 1, 2000 do
    local t = {}
    t[1] = i
    local u = {
        x = i, y = { t }
    }
    local f = function() return u end
    a[i] = f
    a.s =
        i .. 'x' end
local function deep(n)
    if n > 0 then deep(n - 1) end
    last = { n }
end
for i = 1, 300 do
    deep(10)
end
for i = 1, 1000 do
    local v = i < 500 and { i }
    v = v or { i, i }
    a[i] = v.x or v
    table.insert(a,
        i)
    a[#a] = string.format('%d and %d', i, -i)
    a[#a + 1] =
        string.sub(a[#a], 2)
end
";
    for (mode, lua) in states().into_iter().enumerate() {
        let (p, grown) = profile(&lua, true, PROGRAM);
        assert_eq!(p.change, grown);
        let count = |line: u32| p.allocs.get(&format!("@program:{line}")).copied().unwrap_or(0);
        // The inner function's own line is where it is defined; tables with fields have a template and take one cell.
        for (line, n) in [(3, 2000), (5, 2000), (6, 2000), (14, 3300), (20, 499), (21, 501), (25, 1000)] {
            assert_eq!(count(line), n, "line {line} in mode {mode}: {:?}", p.allocs);
        }
        // A function and its upvalue; a string, and on traces that of the number as well.
        // Where a trace is left, the interpreter may begin an instruction again.
        assert!((4000..4100).contains(&count(8)), "mode {mode}");
        // A string each, and a larger array.
        assert!((1000..1010).contains(&count(27)), "mode {mode}: {:?}", p.allocs);
        assert!((2000..4010).contains(&count(11)), "mode {mode}: {:?}", p.allocs);
        assert!(p.allocs.keys().all(|k| !k.starts_with("trace")), "{:?}", p.allocs);
    }
}

#[test]
fn cdata_is_attributed_to_lines_in_all_modes() {
    const PROGRAM: &str = "local ffi = require 'ffi'
local point, kept = ffi.typeof 'struct { double x, y; }', {}
local function nothing() end
for i = 1, 2000 do
    kept[i % 100] = point(i, 1)
    kept.box = 1LL * i
    kept.list = ffi.new('int[?]', i % 50 + 1, i)
    kept.last = ffi.gc(point { x = i }, nothing)
    local sunk = point(i, 2)
    kept.sum = sunk.x + sunk.y
end
for i = 1, 2000 do
    local p = point(i, 2)
    if i % 10 == 0 then
        kept.large = ffi.new('char[5000]') end
    kept.sum = p.x
end
kept, point = nil, nil
collectgarbage()
collectgarbage()
";
    for mode in 0..3 {
        // SAFETY: the program uses no pointers.
        let lua = unsafe { Lua::unsafe_new() };
        lua.set_jit(mode != 0);
        if mode == 2 {
            lua.jit_option("hotloop=1").unwrap();
            lua.jit_option("hotexit=1").unwrap();
        }
        let (p, grown) = profile(&lua, true, PROGRAM);
        assert_eq!(p.change, grown, "mode {mode}");
        let count = |line: u32| p.allocs.get(&format!("@program:{line}")).copied().unwrap_or(0);
        for (line, n) in [(5, 2000), (6, 2000), (7, 2000), (15, 200)] {
            // Where a trace is left, the interpreter may begin an instruction again.
            assert!((n..n + 20).contains(&count(line)), "line {line} in mode {mode}: {:?}", p.allocs);
        }
        assert!(count(8) >= 2000, "mode {mode}");
        // By default the loop is compiled late.
        let expected = [2000..2001, 0..2001, 0..100];
        assert!(expected[mode].contains(&count(9)), "a struct that does not escape, in mode {mode}: {}", count(9));
    }
}

#[test]
fn traces_are_named_by_where_they_start() {
    let lua = Lua::new();
    lua.jit_option("hotloop=1").unwrap();
    let (p, _) = profile(&lua, false, "local t = {}\nlocal n = 0\nfor i = 1, 20000 do\n t[i % 8 + 1] = {i}\nend");
    // Where the types are settled late there is a side trace as well.
    let traces: Vec<_> = p.allocs.iter().filter(|a| a.0.starts_with("trace")).collect();
    assert!(
        !traces.is_empty() && traces.iter().all(|t| t.0.ends_with("at @program:3") || t.0.ends_with("at @program:4")),
        "{traces:?}"
    );
    let on_traces: usize = traces.iter().map(|t| t.1).sum();
    assert!(on_traces > 15000 && (20000..20010).contains(&(on_traces + p.allocs["@program:4"])), "{:?}", p.allocs);
}

#[test]
fn functions_made_while_profiling_have_names() {
    let lua = Lua::new();
    let source = r#"local M = assert(load("local M = {\n t = string.rep('tmp', 100)\n}\nfunction M.f()\n return string.rep('str', 50) end return M",
        "strchunk"))() M.f()"#;
    let (p, _) = profile(&lua, false, source);
    assert_eq!((p.allocs.get("strchunk:2"), p.allocs.get("strchunk:5")), (Some(&1), Some(&1)), "{:?}", p.allocs);
}

#[test]
fn frees_of_the_collector_are_internal() {
    let lua = Lua::new();
    lua.set_jit(false);
    lua.load("require 'table.new'").exec().unwrap();
    lua.gc_collect().expect("a collection");
    let program = "local _ = table.new(20, 0)\nfor i = 1, 20 do\n_[i] = 'memprof-str-' .. i\nend\n_ = nil\ncollectgarbage()";
    let (p, _) = profile(&lua, false, program);
    assert_eq!((p.allocs["@program:1"], p.allocs["@program:3"]), (2, 20));
    assert_eq!(p.frees.get("internal"), Some(&22), "{:?}", p.frees);
}

#[test]
fn a_change_of_size_is_one_event() {
    let lua = Lua::new();
    lua.set_jit(false);
    let (p, _) = profile(&lua, false, "local t = table.new and nil or {}\nfor i = 1, 1000 do\nt[i] = i\nend");
    // The array part is allocated once and then doubles.
    assert_eq!(p.allocs.get("@program:3"), Some(&1), "{:?}", p.allocs);
    assert!(p.reallocs["@program:3"] >= 8 && p.frees.is_empty(), "{p:?}");
}

#[test]
fn code_called_by_builtins_called_by_traces_has_its_own_line() {
    const PROGRAM: &str = "local made = {}
local function repl(c)
    made[2] = { c } return 'x'
end
for i = 1, 3000 do
    made[1] = string.gsub('abc', '%w', repl)
    table.sort({3, 1, 2}, function(a, b) made[3] = { a }
        return a < b end)
end";
    for lua in states() {
        let (p, grown) = profile(&lua, true, PROGRAM);
        assert_eq!(p.change, grown);
        assert!((9000..9010).contains(&p.allocs["@program:3"]), "{:?}", p.allocs);
        assert!(p.allocs["@program:7"] >= 3000 + 2 * 3000, "{:?}", p.allocs);
    }
}

#[test]
fn starting_twice_and_stopping_without_a_start_are_errors() {
    let lua = Lua::new();
    assert!(matches!(lua.stop_memprof(), Err(Error::NotRunning)));
    let first = Written::default();
    lua.start_memprof(Options::new(first.clone())).unwrap();
    let stopped = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&stopped);
    let again = Options::new(io::sink()).on_stop(move || {
        count.fetch_add(1, Relaxed);
        Ok(())
    });
    assert!(matches!(lua.start_memprof(again), Err(Error::Running)));
    assert_eq!(stopped.load(Relaxed), 1, "resources are given back");
    lua.stop_memprof().unwrap();
    assert!(matches!(lua.stop_memprof(), Err(Error::NotRunning)));
    Profile::read(&first.bytes());
}

#[test]
fn the_library_returns_errors() {
    let lua = Lua::new();
    lua.load("require 'misc'").exec().unwrap();
    let file = std::env::temp_dir().join(format!("perilune-memprof-{}", std::process::id()));
    lua.globals().set("file", file.to_str().unwrap()).unwrap();
    let text: String = lua
        .load(
            r#"local out = {}
            local function say(...) for i = 1, select('#', ...) do out[#out + 1] = tostring((select(i, ...))) end out[#out + 1] = '\n' end
            say(misc.memprof.stop())
            say(misc.memprof.start('/nonexistent/file'))
            say(misc.memprof.start(file))
            say(misc.memprof.start('/dev/null'))
            say(misc.memprof.stop())
            say(misc.memprof.stop())
            say(pcall(function() misc.memprof.start() end))
            say(pcall(function() misc.memprof.start(file, 1) end))
            say(misc.memprof.start('a\0b'))
            say(misc.memprof.start('/dev/full'))
            say(misc.heapdump('/dev/full'))
            say(misc.heapsnapshot('/nonexistent/file'))
            return table.concat(out, ' ')"#,
        )
        .set_name("=x")
        .eval()
        .unwrap();
    let expected = "nil profiler is not running 22 \n \
        nil /nonexistent/file: No such file or directory 2 \n \
        true \n \
        nil profiler is running already 22 \n \
        true \n \
        nil profiler is not running 22 \n \
        false x:9: bad argument #1 to 'start' (string expected, got no value) \n \
        false x:10: bad argument #2 to 'start' (table expected, got number) \n \
        nil a\0b: Invalid argument 22 \n \
        nil /dev/full: No space left on device 28 \n \
        nil /dev/full: No space left on device 28 \n \
        nil /nonexistent/file: No such file or directory 2 \n";
    assert_eq!(text, expected);
    Profile::read(&std::fs::read(&file).unwrap());
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_writer_may_fail_at_any_byte() {
    let lua = Lua::new();
    let whole = Written::default();
    let program = "local t = {} for i = 1, 300 do t[i] = {i, tostring(i)} end";
    lua.start_memprof(Options::new(whole.clone()).buffer(Vec::with_capacity(16))).unwrap();
    lua.load(program).exec().unwrap();
    lua.stop_memprof().unwrap();
    let len = whole.bytes().len();
    for end in (0..len).step_by(97).chain([len - 1]) {
        let to = Written::with_room(end);
        let stopped = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&stopped);
        let options = Options::new(to.clone()).buffer(Vec::with_capacity(16)).on_stop(move || {
            count.fetch_add(1, Relaxed);
            Ok(())
        });
        let error = match lua.start_memprof(options) {
            Err(e) => e,
            Ok(()) => {
                lua.load(program).exec().unwrap();
                lua.gc_collect().expect("a collection");
                lua.stop_memprof().unwrap_err()
            }
        };
        assert_eq!(error.to_string(), "No space left on device");
        assert_eq!((stopped.load(Relaxed), to.bytes().len()), (1, end));
        assert!(matches!(lua.stop_memprof(), Err(Error::NotRunning)));
    }
    lua.load(program).exec().unwrap();
    lua.gc_collect().expect("a collection");
    assert_eq!(lua.heap_walk().total_bytes, lua.used_memory());
}

#[test]
fn an_error_when_the_profile_is_closed_is_reported() {
    let lua = Lua::new();
    let options = Options::new(io::sink()).on_stop(|| Err(io::Error::from_raw_os_error(5)));
    lua.start_memprof(options).unwrap();
    assert_eq!(lua.stop_memprof().unwrap_err().to_string(), "Input/output error");
}

#[test]
fn closing_the_state_completes_the_stream() {
    let to = Written::default();
    {
        let lua = Lua::new();
        lua.start_memprof(Options::new(to.clone())).unwrap();
        lua.load("t = {} u = newproxy(true) getmetatable(u).__gc = function() t = {} end error('x')").exec().unwrap_err();
    }
    let p = Profile::read(&to.bytes());
    assert!(p.change > 0, "objects are not freed one by one");
}

#[test]
fn it_stops_at_any_point() {
    let file = std::env::temp_dir().join(format!("perilune-memprof-places-{}", std::process::id()));
    for program in [
        "local co = coroutine.wrap(function() assert(misc.memprof.start(file)) coroutine.yield({}) return misc.memprof.stop() end) co() t = {} assert(co())",
        "local u = newproxy(true) getmetatable(u).__gc = function() stopped = misc.memprof.stop() end assert(misc.memprof.start(file)) \
         u = nil collectgarbage() collectgarbage() assert(stopped)",
        "for i = 1, 3000 do if i == 2500 then assert(misc.memprof.start(file)) end t = {i} end assert(misc.memprof.stop())",
        "assert(misc.memprof.start(file)) for i = 1, 3000 do t = {i} if i == 2500 then assert(misc.memprof.stop()) end end",
        "for i = 1, 3000 do ('x'):gsub('x', function() if i == 1000 then assert(misc.memprof.start(file)) end \
         t = {i} if i == 2000 then assert(misc.memprof.stop()) end end) end",
    ] {
        for lua in states() {
            lua.globals().set("file", file.to_str().unwrap()).unwrap();
            lua.load(format!("require 'misc' {program}")).exec().unwrap();
            Profile::read(&std::fs::read(&file).unwrap());
            assert!(matches!(lua.stop_memprof(), Err(Error::NotRunning)));
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn leaving_the_process_completes_the_stream() {
    let file = std::env::temp_dir().join(format!("perilune-memprof-exit-{}", std::process::id()));
    for end in ["os.exit(3)", "os.exit(3, true)", "error('x')", "return", "local t = {} while true do t[#t + 1] = {} end"] {
        let script = format!("local misc = require 'misc' assert(misc.memprof.start('{}')) {end}", file.display());
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perilune"));
        command.args(["--memory-limit", "8m", "-e", &script]);
        let status = command.stderr(std::process::Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(if end.starts_with("os") { 3 } else { i32::from(end != "return") }), "{end}");
        Profile::read(&std::fs::read(&file).unwrap());
    }
    std::fs::remove_file(file).unwrap();
}
