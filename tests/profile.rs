//! The sampling profiler: shares that are known, stacks of all kinds, and what is written is what was sampled.

use perilune::observe::profile::model::{self, View};
use perilune::observe::profile::{Doing, Error, Options, Profile, folded, pprof, speedscope};
use perilune::{Lua, Table};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Runs a program under the profiler, with a sample each tenth of a millisecond.
fn profile_of(lua: &Lua, text: &str) -> Profile {
    lua.start_profile(Options::new().interval(Duration::from_micros(100))).unwrap();
    lua.load(text).set_name("@dir/test.lua").exec().unwrap();
    lua.stop_profile().unwrap()
}

/// The share of the samples that have a function innermost, in percent.
fn share(p: &Profile, function: &str) -> f64 {
    let n: u64 = p.by_function().iter().filter(|f| f.0.split(' ').next() == Some(function)).map(|f| f.1).sum();
    n as f64 * 100.0 / p.total() as f64
}
fn count(p: &Profile, doing: Doing) -> u64 {
    p.by_doing().iter().find(|d| d.0 == doing).unwrap().1
}
fn stacks(p: &Profile) -> Vec<String> {
    folded::lines(p, View::default())
}

/// Three functions, and the processor time that each takes. Loops that are the same need not be equally fast where they lie in memory, so
/// that the shares of a profile are compared with what was measured. Rounds take longer than there is between samples: of short ones,
/// all of the same length, the same part might be met each time.
const SHARES: &str = "
local function sixty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function thirty(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local function ten(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
took = { sixty = 0, thirty = 0, ten = 0 }
local function timed(name, f, n) local begun = clock() f(n) took[name] = took[name] + (clock() - begun) end
for i = 1, TIMES / 100 do timed('sixty', sixty, 6000000) timed('thirty', thirty, 3000000) timed('ten', ten, 1000000) end
";

/// Runs [`SHARES`] under the profiler.
fn profile_of_shares(lua: &Lua, times: &str) -> Profile {
    lua.globals().set("clock", lua.create_function(|_, ()| Ok(processor_time())).unwrap()).unwrap();
    profile_of(lua, &SHARES.replace("TIMES", times))
}

/// Does the kernel have its event? Emulators do not. They deliver signals between blocks of instructions, so that the places in compiled
/// code are those where blocks begin.
fn has_event() -> bool {
    // SAFETY: nothing is opened: there are no attributes.
    let opened = unsafe { libc::syscall(libc::SYS_perf_event_open, 0, 0, -1, -1, 0) };
    opened != -1 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}

/// How exact shares are, in points: where the kernel's event is not there or not permitted, samples come at the ticks only.
fn tolerance() -> f64 {
    let is_there = has_event();
    let paranoid =
        std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok().and_then(|t| t.trim().parse::<i32>().ok());
    // SAFETY: asks for a number.
    let root = unsafe { libc::geteuid() } == 0;
    if is_there && (root || paranoid.is_some_and(|p| p <= 1)) { 2.0 } else { 10.0 }
}

fn shares_are_right(lua: &Lua, p: &Profile) {
    let took: Table = lua.globals().get("took").unwrap();
    let took = ["sixty", "thirty", "ten"].map(|name| (name, took.get::<f64>(name).unwrap()));
    let all: f64 = took.iter().map(|t| t.1).sum();
    for (name, seconds) in took {
        let (wanted, found) = (seconds * 100.0 / all, share(p, name));
        assert!((found - wanted).abs() < tolerance(), "{name} {found}, took {wanted}\n{:#?}", stacks(p));
    }
}

/// Processor time of this thread in seconds.
fn processor_time() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the address is valid during the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

#[test]
fn shares_in_the_interpreter() {
    let lua = Lua::new();
    lua.load("jit.off()").exec().unwrap();
    let before = processor_time();
    let p = profile_of_shares(&lua, "1200");
    let (seconds, sampled) = (processor_time() - before, p.total() as f64 * p.interval.as_secs_f64());
    shares_are_right(&lua, &p);
    assert!((sampled / seconds - 1.0).abs() < 0.05, "{sampled} s of {seconds} s");
    assert_eq!(count(&p, Doing::Compiled), 0);
    assert!(p.samples().iter().all(|s| s.kind.trace.is_none()));
}

#[test]
fn shares_in_compiled_code() {
    let lua = Lua::new();
    let p = profile_of_shares(&lua, "10000");
    shares_are_right(&lua, &p);
    assert!(count(&p, Doing::Compiled) * 10 > p.total() * 9, "{:?}", p.by_doing());
    let with_trace: u64 = p.samples().iter().filter(|s| s.kind.trace.is_some()).map(|s| s.count).sum();
    assert!(with_trace * 10 > p.total() * 9);
    let by_trace = folded::lines(&p, View { traces: true, lines: true });
    assert!(by_trace.iter().any(|l| l.starts_with("trace ")
        && l.contains(" test.lua:2;main chunk test.lua:7;timed test.lua:6;sixty test.lua:2;(compiled)")));
}

#[test]
fn inlined_functions_are_distinguished() {
    let p = profile_of(
        &Lua::new(),
        "local function leaf(x)
           return (x * 1103515245 + 12345) % 2147483648 % 1000003 % 65537 % 4099
         end
         local function middle(x)
           local y = leaf(leaf(x))
           return leaf(y)
         end
         local x = 1
         for i = 1, 3e6 do x = middle(x) end",
    );
    if !has_event() {
        return println!("not told apart by an emulator: skipped");
    }
    assert_eq!(p.functions.len(), 3, "{:?}", p.functions);
    let of =
        |whole: &str| stacks(&p).iter().filter_map(|l| l.strip_prefix(whole)).map(|n| n.parse::<u64>().unwrap()).sum::<u64>();
    let (called, instead) = (
        of("main chunk (test.lua);middle (test.lua:4);leaf (test.lua:1);(compiled) "),
        of("main chunk (test.lua);leaf (test.lua:1);(compiled) "),
    );
    // Two calls, and one in the place of the caller.
    assert!(called + instead > p.total() / 2 && called > instead && instead > p.total() / 10, "{:#?}", stacks(&p));
}

/// Side traces of exits that are taken for samples only would leave at once as well.
#[test]
fn exits_for_samples_get_no_side_traces() {
    let lua = Lua::new();
    let (started, told): (u64, u64) = lua
        .load(
            "jit.opt.start('hotloop=2', 'hotexit=2')
            local told = 0
            require('jit.profile').start('fi1', function() told = told + 1 end)
            local s, begun = 0, os.clock()
            while told < 200 and os.clock() < begun + 20 do
              for i = 1, 2e5 do s = s + (i & 3) end
            end
            require('jit.profile').stop()
            return require('jit.util').counters().started, told",
        )
        .eval()
        .unwrap();
    assert!(told >= 200 && started < 50, "{started} recordings for {told} samples");
}

#[test]
fn compiled_code_is_not_left_for_samples() {
    let lua = Lua::new();
    lua.start_profile(Options::new().interval(Duration::from_micros(200))).unwrap();
    let text = "local stats = require('jit.util').tracestats
        local function entries()
          local n, made = 0, 0
          for i = 1, 100 do
            local t = stats(i)
            if t then n, made = n + t.entries, made + 1 end
          end
          return n, made
        end
        local function work(n)
          local s = 0
          for i = 1, n do
            if i % 3 == 0 then s = s + i % 7 else s = s - 1 end
          end
          return s
        end
        local function little() return work(2e6) end
        local function much() return (work(6e6)) end
        local s, before, made = 0
        for i = 1, 60 do
          if i == 11 then before, made = entries() end
          s = s + much() + little()
        end
        local after, now = entries()
        return after - before, now - made";
    let (entries, made): (u64, u64) = lua.load(text).set_name("@dir/test.lua").eval().unwrap();
    let p = lua.stop_profile().unwrap();
    assert!(p.total() > 1000 && entries < 500, "entered {entries} times, {} samples", p.total());
    assert!(made <= 2, "{made} traces that there would not be otherwise");
    // The callers are those at the time of the sample, though the consumer was called much later.
    let through = |name: &str| -> u64 {
        let within = |l: &&String| l.contains(";work") && l.contains(name);
        stacks(&p).iter().filter(within).map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let much = through(";much") as f64 * 100.0 / through(";work") as f64;
    assert!((much - 75.0).abs() < tolerance(), "{much}\n{:#?}", stacks(&p));
}

#[test]
fn long_loops_do_not_keep_samples_waiting() {
    let told = "local times, begun = {}, os.clock()
        require('jit.profile').start('fi1', function() times[#times + 1] = os.clock() - begun end)
        local s = 0
        for i = 1, 4e8 do s = s + (i & 3) end
        require('jit.profile').stop()
        return times[math.floor(#times / 4)] / times[#times], #times";
    let (quarter, times): (f64, u64) = Lua::new().load(told).eval().unwrap();
    assert!(times > 20 && quarter < 0.5, "{times} samples were told of, a quarter of them until {quarter} of the time");
}

#[test]
fn activities_are_distinguished() {
    let lua = Lua::new();
    let p = profile_of(
        &lua,
        "local function garbage() local t = {} for i = 1, 3e5 do t[i % 20000 + 1] = {{i}, {i}} end return t end
         local function words() local s for i = 1, 400 do s = ('abc '):rep(9000):upper():reverse() end return s end
         local function plain() local s = 0 for i = 1, 2e6 do s = s + i end return s end
         jit.off(plain)
         for i = 1, 4 do garbage() words() plain() end
         for i = 1, 300 do assert(loadstring('local s = 0 for i = 1, 100 do s = s + i end return s'))() end",
    );
    // Traces are left seldom here.
    for doing in Doing::ALL.into_iter().filter(|d| *d != Doing::Leaving) {
        assert!(count(&p, doing) > 3, "{doing:?}: {:?}", p.by_doing());
    }
    let lines = stacks(&p);
    let has = |stack: &str| assert!(lines.iter().any(|l| l.starts_with(stack)), "{stack}: {lines:#?}");
    has("main chunk (test.lua);garbage (test.lua:1);(garbage collector) ");
    has("main chunk (test.lua);words (test.lua:2);string.reverse ");
    has("main chunk (test.lua);plain (test.lua:3);(interpreted) ");
}

#[test]
fn coroutines_are_on_top_of_those_that_resume_them() {
    for off in ["", "jit.off() "] {
        let p = profile_of(
            &Lua::new(),
            &format!(
                "{off}local function inside() for k = 1, 60 do local s = 0 for i = 1, 5e4 do s = s + i % 3 end coroutine.yield(s) end end
                 local function outside() local co = coroutine.create(inside) while coroutine.resume(co) do end end
                 outside()"
            ),
        );
        let whole = "main chunk (test.lua);outside (test.lua:2);coroutine.resume;inside (test.lua:1);";
        let n: u64 = stacks(&p)
            .iter()
            .filter(|l| l.starts_with(whole))
            .map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum();
        assert!(n * 10 > p.total() * 8, "{:#?}", stacks(&p));
    }
}

#[test]
fn deep_recursion_is_cut() {
    for off in ["", "jit.off() "] {
        let p = profile_of(
            &Lua::new(),
            &format!(
                "{off}local function deep(n) if n == 0 then local s = 0 for i = 1, 3e5 do s = s + i % 3 end return s end return 1 + deep(n - 1) end
                 for i = 1, 20 do deep(5000) end"
            ),
        );
        assert!(p.truncated * 10 > p.total() * 8, "{} of {}", p.truncated, p.total());
        assert!(share(&p, "deep") > 95.0);
        assert!(p.samples().iter().all(|s| s.stack.len() <= 256));
    }
}

#[test]
fn an_error_ends_the_program_and_not_the_profile() {
    let lua = Lua::new();
    lua.start_profile(Options::new()).unwrap();
    let e = lua.load("local s = 0 for i = 1, 5e7 do s = s + i % 7 end error('enough')").exec().unwrap_err();
    assert!(e.message().ends_with("enough"));
    assert!(lua.stop_profile().unwrap().total() > 20);
}

#[test]
fn starting_and_stopping() {
    let lua = Lua::new();
    assert_eq!(lua.stop_profile().unwrap_err(), Error::NotRunning);
    lua.start_profile(Options::new()).unwrap();
    assert_eq!(lua.start_profile(Options::new()).unwrap_err(), Error::Running);
    assert_eq!(Lua::new().start_profile(Options::new()).unwrap_err(), Error::NoTimer, "one state of a thread");
    let p = lua.stop_profile().unwrap();
    assert!(p.total() < 50 && p.traces.is_empty());
    lua.start_profile(Options::new()).unwrap();
    lua.load("jit.profile.stop()").exec().unwrap_or_else(|_| lua.load("require('jit.profile').stop()").exec().unwrap());
    assert!(lua.stop_profile().is_ok(), "not the program's to stop");
}

#[test]
fn the_first_to_end_gives_the_profile() {
    for text in ["", "require('jit.profile').start('i10', function() end)"] {
        let lua = Lua::new();
        let got: Arc<Mutex<Option<Profile>>> = Arc::default();
        let to = Arc::clone(&got);
        lua.start_profile(Options::new().on_end(move |p| *to.lock().expect("no thread has panicked") = Some(p))).unwrap();
        lua.load("local s = 0 for i = 1, 5e7 do s = s + i % 7 end").exec().unwrap();
        lua.load(text).exec().unwrap();
        if !text.is_empty() {
            assert_eq!(lua.stop_profile().unwrap_err(), Error::NotRunning);
        }
        drop(lua);
        let got = got.lock().expect("no thread has panicked");
        assert!(got.as_ref().is_some_and(|p| p.total() > 20));
    }
}

#[test]
fn traces_and_functions_may_go_while_samples_are_taken() {
    let lua = Lua::new();
    let p = profile_of(
        &lua,
        "for k = 1, 150 do
           local f = loadstring('local s = 0 for i = 1, 20000 do s = s + i % 7 end return s', '=chunk' .. k)
           f() f = nil
           if k % 10 == 0 then collectgarbage() end
           if k % 25 == 0 then jit.flush() end
         end",
    );
    assert!(p.functions.iter().filter(|f| f.file.starts_with("chunk")).count() > 5, "{:#?}", p.functions);
}

type Counts = BTreeMap<Vec<String>, u64>;

/// Stacks and their counts, from folded stacks.
fn read_folded(text: &str) -> Counts {
    let line = |l: &str| {
        let (stack, n) = l.rsplit_once(' ').unwrap();
        (stack.split(';').map(str::to_owned).collect(), n.parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// Speedscope's first view shows what ran when.
#[test]
fn speedscope_has_the_order_of_time() {
    let mut p = Profile::new(Duration::from_millis(1));
    for name in ["first", "second"] {
        p.functions.push(model::Function { name: name.into(), file: "x.lua".into(), line: 1 });
    }
    let [first, second] = [0, 1].map(|function| p.frame(model::Frame { function, line: 1 }));
    for (frame, count) in [(first, 1), (second, 5), (first, 2), (first, 1)] {
        p.add(&[frame], true, Doing::Interpreting, None, count);
    }
    let mut json = Vec::new();
    speedscope::write(&p, View::default(), "", &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let profile = &json["profiles"][0];
    let names: Vec<&str> = profile["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| json["shared"]["frames"][s[0].as_u64().unwrap() as usize]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["first (x.lua:1)", "second (x.lua:1)", "first (x.lua:1)"]);
    assert_eq!((&profile["weights"], &profile["endValue"]), (&serde_json::json!([1.0, 5.0, 3.0]), &serde_json::json!(9.0)));
}

/// The same from a file for speedscope.
fn read_speedscope(text: &str, interval: Duration) -> Counts {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let names: Vec<&str> = json["shared"]["frames"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    let profile = &json["profiles"][0];
    let (samples, weights) = (profile["samples"].as_array().unwrap(), profile["weights"].as_array().unwrap());
    assert_eq!((samples.len(), &profile["type"], &profile["unit"]), (weights.len(), &"sampled".into(), &"milliseconds".into()));
    let mut counts = Counts::new();
    for (stack, weight) in samples.iter().zip(weights) {
        let stack = stack.as_array().unwrap().iter().map(|i| names[i.as_u64().unwrap() as usize].to_owned()).collect();
        let n = weight.as_f64().unwrap() / 1000.0 / interval.as_secs_f64();
        *counts.entry(stack).or_insert(0) += n.round() as u64;
    }
    counts
}

/// A field of a message: its number, and a varint or bytes.
enum Field<'a> {
    Int(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut n = 0;
    for shift in (0..).step_by(7) {
        let (&b, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        n |= u64::from(b & 0x7f) << shift;
        if b < 0x80 {
            break;
        }
    }
    n
}
fn varints(mut bytes: &[u8]) -> Vec<u64> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(varint(&mut bytes));
    }
    all
}
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Int(varint(&mut bytes)),
            2 => {
                let n = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(n);
                bytes = rest;
                Field::Bytes(inner)
            }
            other => panic!("wire type {other}"),
        };
        all.push((tag >> 3, field));
    }
    all
}
fn int(bytes: &[u8], number: u64) -> u64 {
    fields(bytes).iter().find_map(|f| if let (n, Field::Int(i)) = f { (*n == number).then_some(*i) } else { None }).unwrap_or(0)
}
fn all(bytes: &[u8], number: u64) -> Vec<&[u8]> {
    fields(bytes).iter().filter_map(|f| if let (n, Field::Bytes(b)) = f { (*n == number).then_some(*b) } else { None }).collect()
}

/// The same from a profile for pprof; what the VM was doing is after the functions.
fn read_pprof(bytes: &[u8], interval: Duration) -> Counts {
    let strings: Vec<&str> = all(bytes, 6).into_iter().map(|s| std::str::from_utf8(s).unwrap()).collect();
    let text = |i: u64| strings[i as usize].to_owned();
    assert_eq!(strings[0], "");
    let types: Vec<_> = all(bytes, 1).iter().map(|t| (text(int(t, 1)), text(int(t, 2)))).collect();
    assert_eq!(types, [("samples".into(), "count".into()), ("cpu".into(), "nanoseconds".into())]);
    assert_eq!((int(bytes, 12), text(int(bytes, 14))), (interval.as_nanos() as u64, "cpu".into()));
    let functions: BTreeMap<u64, String> = all(bytes, 5).iter().map(|f| (int(f, 1), text(int(f, 2)))).collect();
    let place = |l: &&[u8]| (int(l, 1), functions[&int(all(l, 4)[0], 1)].clone());
    let places: BTreeMap<u64, String> = all(bytes, 4).iter().map(place).collect();
    let mut counts = Counts::new();
    for s in all(bytes, 2) {
        let ids = varints(all(s, 1)[0]);
        let values = varints(all(s, 2)[0]);
        assert_eq!(values[1], values[0] * interval.as_nanos() as u64);
        let mut stack: Vec<String> = ids.iter().rev().map(|id| places[id].clone()).collect();
        let label = |key: &str| all(s, 3).into_iter().find(|l| text(int(l, 1)) == key).map(|l| text(int(l, 2)));
        let state = format!("({})", label("state").unwrap());
        if state != "(builtin)" && stack.last() != Some(&state) {
            stack.push(state);
        }
        *counts.entry(stack).or_insert(0) += values[0];
    }
    counts
}

#[test]
fn each_format_has_what_was_sampled() {
    let p = profile_of(
        &Lua::new(),
        "local function garbage() local t for i = 1, 2e5 do t = {{i}} end return t end
         local function words() local s for i = 1, 200 do s = ('abc '):rep(9000):upper():reverse() end return s end
         for i = 1, 3 do garbage() words() end",
    );
    let (mut text, mut json) = (Vec::new(), Vec::new());
    folded::write(&p, View::default(), &mut text).unwrap();
    let wanted = read_folded(std::str::from_utf8(&text).unwrap());
    assert_eq!(wanted.values().sum::<u64>(), p.total());
    speedscope::write(&p, View::default(), "test \"1\"", &mut json).unwrap();
    assert_eq!(read_speedscope(std::str::from_utf8(&json).unwrap(), p.interval), wanted);
    assert_eq!(read_pprof(&pprof::encode(&p, "test.lua"), p.interval), wanted);
}

#[test]
fn a_profile_without_samples_can_be_written() {
    let p = Profile::new(Duration::from_millis(1));
    let mut json = Vec::new();
    speedscope::write(&p, View::default(), "", &mut json).unwrap();
    assert!(read_speedscope(std::str::from_utf8(&json).unwrap(), p.interval).is_empty());
    assert!(read_pprof(&pprof::encode(&p, ""), p.interval).is_empty());
    assert!(folded::lines(&p, View::default()).is_empty());
}
