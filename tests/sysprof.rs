//! `misc.sysprof`: counts by the state of the VM, and a stream of stacks that says the same.

mod written;

use perilune::observe::sysprof::{Counters, Error, Options};
use perilune::{Lua, Table};
use std::collections::HashMap;
use std::time::Duration;
use written::Written;

/// A reader of the stream, after the format in `observe/src/sysprof/mod.rs`.
struct Reader<'a> {
    bytes: &'a [u8],
    names: HashMap<u64, String>,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.bytes.split_first().expect("more bytes");
        self.bytes = rest;
        *first
    }
    fn number(&mut self) -> u64 {
        let mut n = 0;
        for shift in (0..).step_by(7) {
            let b = self.byte();
            n |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                break;
            }
        }
        n
    }
    fn string(&mut self) -> String {
        let n = self.number() as usize;
        let (text, rest) = self.bytes.split_at(n);
        self.bytes = rest;
        String::from_utf8_lossy(text).into_owned()
    }
    fn begin(&mut self, magic: &[u8; 3], version: u8) {
        assert_eq!([self.byte(), self.byte(), self.byte()], *magic);
        assert_eq!([self.byte(), self.byte(), self.byte(), self.byte()], [version, 0, 0, 0]);
    }
    fn proto(&mut self) {
        let (address, chunk, line) = (self.number(), self.string(), self.number());
        self.names.insert(address, format!("{chunk}:{line}"));
    }
    fn native(&mut self) {
        let (address, name) = (self.number(), self.string());
        self.names.insert(address, name);
    }
    fn frames(&mut self) -> Vec<String> {
        let mut stack = Vec::new();
        loop {
            match self.byte() {
                1 => {
                    let address = self.number();
                    let name = self.names[&address].clone();
                    let line = self.number();
                    assert!(name.ends_with(&format!(":{line}")), "{name} is defined at line {line}");
                    stack.push(name);
                }
                2 => {
                    let code = self.number();
                    stack.push(self.names[&code].clone());
                }
                3 => {
                    let id = self.number();
                    stack.push(perilune_vm::stdlib::Builtin::NAMES[id as usize].to_owned());
                }
                0x80 => return stack,
                kind => panic!("a frame of kind {kind}"),
            }
        }
    }
    fn host_frames(&mut self) -> String {
        let at = self.number();
        assert_eq!(self.number(), 0);
        self.names[&at].clone()
    }
}

/// Stacks of samples, the innermost function first, with the state in front.
fn stacks(bytes: &[u8]) -> Vec<(u8, Vec<String>)> {
    let mut r = Reader { bytes, names: HashMap::new() };
    r.begin(b"ljs", 3);
    loop {
        match r.byte() {
            0 => r.proto(),
            1 => r.native(),
            0x80 => break,
            kind => panic!("a symbol of kind {kind}"),
        }
    }
    r.begin(b"ljp", 2);
    let mut stacks = Vec::new();
    let mut traces = HashMap::new();
    loop {
        match r.byte() {
            state @ 1..=3 => {
                let stack = r.frames();
                assert_eq!(r.host_frames(), "lua_call");
                stacks.push((state, stack));
            }
            state @ (0 | 4..=8) => stacks.push((state, vec![r.host_frames()])),
            9 => {
                let (number, address, line) = (r.number(), r.number(), r.number());
                assert_eq!(traces[&number], (address, line));
                stacks.push((9, vec![format!("trace in {}", r.names[&address])]));
            }
            10 => r.proto(),
            11 => r.native(),
            12 => {
                let trace = (r.number(), (r.number(), r.number()));
                traces.insert(trace.0, trace.1);
            }
            0x80 => break,
            event => panic!("event {event}"),
        }
    }
    assert!(r.bytes.is_empty(), "nothing follows");
    stacks
}

fn counts_of(stacks: &[(u8, Vec<String>)]) -> Vec<u64> {
    (0..=9).map(|state| stacks.iter().filter(|s| s.0 == state).count() as u64).collect()
}

const PROGRAM: &str = "
local function compiled() local s = 0 for i = 1, 2e7 do s = s + i % 7 end return s end
local function sorted()
  local t = {}
  for i = 1, 1e5 do t[i] = (i * 7919) % 100003 end
  table.sort(t, function(a, b) return a < b end)
end
local function garbage() local t for i = 1, 3e5 do t = { i, {} } end end
local function interpreted(n) if n < 2 then return n end return interpreted(n - 1) + interpreted(n - 2) end
jit.off(interpreted)
compiled() sorted() garbage() interpreted(25)
load('local s = 0 for i = 1, 1e7 do s = s + i end', '@loaded')()
for i = 1, 2e4 do local s = ('x'):rep(1000):find('y', 1, true) end
";

fn run(options: Options) -> Counters {
    let lua = Lua::new();
    lua.start_sysprof(options.interval(Duration::from_millis(1))).expect("a start");
    lua.load(PROGRAM).set_name("@p.lua").exec().expect("a program");
    lua.stop_sysprof().expect("an end")
}

#[test]
fn the_stream_says_what_was_counted() {
    let memory = Written::default();
    let counters = run(Options::new().callgraph(memory.clone()));
    let stacks = stacks(&memory.bytes());
    let by_state: Vec<u64> = counters.by_state().map(|s| s.1).collect();
    assert_eq!(by_state.iter().sum::<u64>(), counters.samples);
    assert_eq!(stacks.len() as u64, counters.samples);
    // A trace that is gone when its sample is delivered is written as the function.
    let written = counts_of(&stacks);
    assert_eq!(written[1] + written[9], by_state[1] + by_state[9], "{written:?}, {by_state:?}");
    assert!(written[9] <= by_state[9], "{written:?}, {by_state:?}");
    assert_eq!([&written[2..9]], [&by_state[2..9]]);
    let has = |state, stack: &[&str]| stacks.iter().any(|s| s.0 == state && s.1 == stack);
    assert!(has(9, &["trace in p.lua:2"]) || has(9, &["trace in @p.lua:2"]), "{stacks:?}");
    assert!(stacks.iter().any(|s| s.0 == 9 && s.1[0].contains("loaded")), "a function that was loaded meanwhile");
    assert!(stacks.iter().any(|s| s.0 == 1 && s.1[0].ends_with("p.lua:9") && s.1.len() > 5), "a stack of calls");
    // Where the sample waits for a few instructions of the function that compares, that is on the stack as well.
    let mut sorting = stacks.iter().filter(|s| s.0 == 2 && s.1[0] == "table.sort").map(|s| s.1.len());
    assert!(sorting.any(|n| n == 3), "the function that calls sort, the main chunk: {stacks:?}");
}

#[test]
fn a_leaf_is_one_frame() {
    let memory = Written::default();
    let counters = run(Options::new().leaf(memory.clone()));
    let stacks = stacks(&memory.bytes());
    assert_eq!(stacks.len() as u64, counters.samples);
    assert!(stacks.iter().all(|s| s.1.len() == 1), "{stacks:?}");
}

#[test]
fn without_a_stream_samples_are_counted() {
    let counters = run(Options::new());
    assert!(counters.trace > 0 && counters.lfunc > 0 && counters.ffunc > 0, "{counters:?}");
    let lua = Lua::new();
    lua.set_jit(false);
    lua.start_sysprof(Options::new().interval(Duration::from_millis(1))).expect("a start");
    lua.load(PROGRAM).exec().expect("a program");
    let counters = lua.stop_sysprof().expect("an end");
    let of_compiler = counters.trace + counters.exit + counters.record + counters.opt + counters.asm;
    assert!(of_compiler == 0 && counters.lfunc > 0, "{counters:?}");
}

#[test]
fn errors_have_words_and_numbers() {
    let lua = Lua::new();
    let said: String = lua
        .load(
            "require 'misc'
            local out = {}
            local function say(...)
              local parts = { ... }
              for i = 1, select('#', ...) do parts[i] = type(parts[i]) == 'table' and 'counts' or tostring(parts[i]) end
              out[#out + 1] = table.concat(parts, ' ')
            end
            local s = misc.sysprof
            say(s.report().samples, s.report().vmstate.LFUNC)
            say(s.stop())
            say(s.start())
            say(s.start('D'))
            say(s.start({ mode = 'D' }, 1))
            say(s.start {})
            say(s.start { mode = 'A' })
            say(s.start { mode = 'DD' })
            say(s.start { mode = 'D', interval = 0 })
            say(s.start { mode = 'C', interval = -1 })
            say(s.start { mode = 'C', path = 1 })
            say(s.start { mode = 'C', path = '/nonexistent/file' })
            say(s.start { mode = 'L', path = '/dev/full' })
            say(s.start { mode = 'D' })
            say(s.start { mode = 'D' })
            say(s.report())
            say(s.stop())
            say(s.stop())
            say(s.report())
            require('jit.profile').start('i10', function() end)
            say(s.start { mode = 'D' })
            require('jit.profile').stop()
            return table.concat(out, '\\n')",
        )
        .eval()
        .expect("a program");
    let (misuse, running) = ("nil profiler misuse 22", "nil profiler is running already 22");
    let stopped = "nil profiler is not running 22";
    let (absent, full) = ("nil No such file or directory 2", "nil No space left on device 28");
    let expected = [
        "0 0", stopped, misuse, misuse, misuse, misuse, misuse, misuse, misuse, misuse, misuse, absent, full, "true", running,
        misuse, "true", stopped, "counts", misuse,
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_stream_is_complete_when_the_state_is_closed() {
    let memory = Written::default();
    let lua = Lua::new();
    lua.start_sysprof(Options::new().callgraph(memory.clone())).expect("a start");
    assert!(matches!(lua.start_sysprof(Options::new()), Err(Error::Running)));
    let report: Table = lua.load("return require('misc').sysprof").eval().expect("a library");
    assert!(report.contains_key("report").expect("a field"));
    drop(report);
    drop(lua);
    stacks(&memory.bytes());
}
