//! Fuel: a program ends at the same instruction, and has executed as many, whether it is interpreted, compiled as usual, compiled at once, or
//! compiled and evaluated.

mod command;
mod corpus;

use corpus::{Case, benchmarks, conformance};
use perilune::{Error, Lua};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

/// How programs are run, with the options of the compiler.
const MODES: [(&str, &[&str]); 4] = [
    ("interpreted", &[]),
    ("compiled as usual", &["hotloop=56", "hotexit=10", "budget=0"]),
    ("compiled at once", &["hotloop=1", "hotexit=1"]),
    ("evaluated", &["hotloop=1", "hotexit=1", "eval=1"]),
];

/// Programs that do something else in each run or in each mode.
const DIFFER: [(&str, &str); 11] = [
    ("constructors", "the order of `pairs`"),
    ("gc_stress", "the order of `pairs`"),
    ("knucleotide", "the order of `pairs`"),
    ("early_return", "the order of `pairs`"),
    ("next_pairs", "the order of `pairs`"),
    ("odd_arguments", "the order of `pairs`"),
    ("debug_library", "looks whether the compiler is on"),
    ("traces_of_others", "counts traces"),
    ("stack_overflow", "how deep a recursion comes"),
    ("memory_seen", "waits for memory to be used up"),
    ("finalizer_moves_stack", "waits for a finalizer"),
];

/// The program that counts how many callbacks there can be, which all states of the process share: it runs alone.
const ALONE: &str = "callbacks.lua";
static OTHERS: RwLock<()> = RwLock::new(());

/// Programs of more instructions take too long here.
const LONG: u64 = 3_000_000;

/// What a run comes to.
#[derive(PartialEq, Debug)]
struct End {
    error: Option<String>,
    left: Option<u64>,
    output: Vec<u8>,
}

/// Runs a program with `print` and `io.write` into a file.
fn run(case: &Case, (mode, options): (&str, &[&str]), fuel: u64, output: &PathBuf) -> End {
    let name = case.file.file_name().expect("a name").to_string_lossy().into_owned();
    // Until the state is dropped, and with it its callbacks.
    let alone = (name == ALONE).then(|| OTHERS.write().unwrap_or_else(PoisonError::into_inner));
    let _beside = alone.is_none().then(|| OTHERS.read().unwrap_or_else(PoisonError::into_inner));
    // SAFETY: the programs are those of the corpus.
    let lua = unsafe { Lua::unsafe_new() };
    lua.set_jit(mode != "interpreted");
    options.iter().for_each(|o| lua.jit_option(o).expect("an option"));
    let prelude = "
        local path, name = ...
        io.output(path)
        arg = {[0] = name, select(3, ...)}
        function print(...)
            local t = {...}
            for i = 1, select('#', ...) do t[i] = tostring(t[i]) end
            io.write(table.concat(t, '\\t'), '\\n')
        end";
    let mut args = vec![output.to_string_lossy().into_owned(), name.clone()];
    args.extend(case.args.iter().cloned());
    lua.load(prelude).call::<()>(perilune::Variadic::from(args)).expect("the prelude");
    let text = std::fs::read(&case.file).expect("a program");
    let program = lua.load(text).set_name(format!("@{name}")).into_function().expect("a program");
    let args: perilune::Variadic<String> = case.args.iter().cloned().collect();
    lua.set_fuel(Some(fuel));
    let error = program.call::<()>(args).err();
    let left = lua.fuel();
    lua.set_fuel(None);
    if matches!(error, Some(Error::OutOfFuel(_))) {
        assert_eq!(left, Some(0), "{name}, {mode}");
    }
    lua.load("io.output():close()").exec().expect("the output is closed");
    End { error: error.map(|e| e.to_string()), left, output: std::fs::read(output).expect("the output") }
}

/// Runs all programs with much fuel, and with each part of what they need.
fn check(suite: &str, cases: &[Case], modes: &[(&str, &[&str])], parts: &[f64]) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let output = std::env::temp_dir().join(format!("perilune-fuel-{suite}-{}-{thread}", std::process::id()));
            let (next, failures) = (&next, &failures);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(report) = difference(case, modes, parts, &output) {
                        failures.lock().expect("no panic").push(format!("{}: {report}", case.file.display()));
                    }
                }
                let _ = std::fs::remove_file(&output);
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic");
    failures.sort();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn difference(case: &Case, modes: &[(&str, &[&str])], parts: &[f64], output: &PathBuf) -> Option<String> {
    const MUCH: u64 = 1 << 40;
    if DIFFER.iter().any(|(name, _)| case.file.file_stem().is_some_and(|s| s == *name)) {
        return None;
    }
    let whole = run(case, MODES[0], MUCH, output);
    let needed = MUCH - whole.left?;
    if needed > LONG {
        return None;
    }
    let part_of = |part: &f64| {
        let fuel = (needed as f64 * part) as u64;
        (fuel, run(case, MODES[0], fuel, output))
    };
    for (fuel, expected) in core::iter::once((MUCH, whole)).chain(parts.iter().map(part_of)) {
        for &mode in modes {
            let end = run(case, mode, fuel, output);
            if end != expected {
                let text = |e: &End| format!("{:?} left, {:?}, {} bytes", e.left, e.error, e.output.len());
                return Some(format!("{} of {needed}, {}: {} instead of {}", fuel, mode.0, text(&end), text(&expected)));
            }
        }
    }
    None
}

/// A program that does a bit of all that is compiled in ways of its own, with what it has done so far in the table that it is called with.
const MIXED: &str = "
    local seen = ...
    local function note(v) seen[#seen + 1] = v end
    for i = 1, 12 do if i % 3 == 0 then note(i) end end
    for i = 3, 5 do for j = 1, i do note(i * j) end end
    for i = 1, 8 do end
    local n = 0
    repeat n = n + 1 until n > 9
    while n > 3 do n = n - 1 if n == 6 then note('six') end end
    for k, v in pairs({10, 20, 30, 40}) do note(k + v) end
    for k, v in ipairs({5, 6, 7, 8}) do note(k .. v) end
    for w in ('a bc def'):gmatch('%a+') do note(w) end
    local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
    note(fib(7))
    local function down(n) if n == 0 then return 0 end return 1 + down(n - 1) end
    note(down(9))
    local function tail(n) if n == 0 then return 'end' end return tail(n - 1) end
    note(tail(9))
    local function count(...) return select('#', ...) end
    for i = 1, 6 do note(count(unpack({1, 2, 3}, 1, i % 4))) end
    local t = setmetatable({}, {__index = function(_, k) return k * 2 end, __add = function(a, b) return b end, __len = function() return 7 end})
    for i = 1, 6 do note(t[i] + (t + i) + (#t == 7 and 1 or 0)) end
    for i = 1, 6 do local ok, e = pcall(function() if i > 4 then error('no', 0) end return i end) note(tostring(e)) end
    for i = 1, 6 do local ok, e = xpcall(function() return (string.len('x' .. i)) end, function(e) return e end) note(tostring(e)) end
    local list = {5, 3, 8, 1, 9, 2}
    table.sort(list, function(a, b) return a < b end)
    note(table.concat(list, ' '))
    note((('x'):rep(5):gsub('x', function(c) return c .. 'y' end)))
    local co = coroutine.wrap(function(a) for i = 1, 6 do a = coroutine.yield(a + i) end return 0 end)
    for i = 1, 6 do note(co(i)) end
    for i = 1, 6 do note(load('return ' .. i)()) end
    for i = 1, 6 do local p = {i, x = i} note(p.x + #p + math.floor(i / 2) + ('ab'):byte(i % 2 + 1)) end
    return #seen";

/// The program is ended by each amount of fuel that it does not get by with, at the same place in each mode, with code that was compiled before.
#[test]
fn each_amount_ends_at_its_instruction() {
    let states: Vec<(&str, Lua, perilune::Function)> = MODES
        .iter()
        .map(|&(mode, options)| {
            let lua = Lua::new();
            lua.set_jit(mode != "interpreted");
            options.iter().for_each(|o| lua.jit_option(o).expect("an option"));
            let program = lua.load(MIXED).set_name("=mixed").into_function().expect("a program");
            (mode, lua, program)
        })
        .collect();
    let run = |lua: &Lua, program: &perilune::Function, fuel: u64| {
        let seen = lua.create_table().expect("a table");
        lua.set_fuel(Some(fuel));
        let error = program.call::<usize>(&seen).err();
        let left = lua.fuel();
        let seen: Vec<String> = seen.sequence_values().collect::<perilune::Result<_>>().expect("strings");
        (error.map(|e| e.to_string()), left, seen)
    };
    const MUCH: u64 = 1 << 20;
    let whole = run(&states[0].1, &states[0].2, MUCH);
    assert_eq!(whole.0, None);
    let needed = MUCH - whole.1.expect("a limit");
    for (mode, lua, program) in &states[1..] {
        // Until all is compiled, and then again.
        for _ in 0..5 {
            assert_eq!(run(lua, program, MUCH), whole, "{mode}");
        }
    }
    for fuel in 0..needed {
        let expected = run(&states[0].1, &states[0].2, fuel);
        assert!(expected.0.as_ref().is_some_and(|e| e.starts_with("out of fuel")), "{fuel}: {expected:?}");
        assert_eq!(expected.1, Some(0), "{fuel}");
        for (mode, lua, program) in &states[1..] {
            assert_eq!(run(lua, program, fuel), expected, "{fuel} of {needed}, {mode}");
        }
    }
}

/// A program cannot go on by catching the error; the host may give it more.
#[test]
fn the_error_is_not_caught() {
    for (mode, options) in MODES {
        let lua = Lua::new();
        lua.set_jit(mode != "interpreted");
        options.iter().for_each(|o| lua.jit_option(o).expect("an option"));
        let loops = [
            "while true do pcall(function() while true do end end) end",
            "while true do xpcall(function() while true do end end, function(e) while true do end end) end",
            "local co = coroutine.wrap(function() while true do pcall(coroutine.yield) end end) while true do pcall(co) end",
            "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end",
        ];
        for program in loops {
            lua.set_fuel(Some(100_000));
            let e = lua.load(program).exec().expect_err(program);
            assert!(matches!(e, Error::OutOfFuel(_)), "{program}, {mode}: {e}");
            assert!(matches!(lua.load("return 1").eval::<i32>(), Err(Error::OutOfFuel(_))), "{program}, {mode}");
            lua.set_fuel(Some(10));
            assert_eq!(lua.load("return 1").eval::<i32>().expect("fuel"), 1);
            lua.set_fuel(None);
            assert_eq!(
                lua.load("local n = 0 for i = 1, 1e5 do n = n + 1 end return n").eval::<i32>().expect("no limit"),
                100_000
            );
        }
    }
}

/// Functions of Rust see what is left, and may change it, also where they are called by compiled code.
#[test]
fn functions_of_rust_see_the_fuel() {
    let program = "local left, more = ... local n, list = 0, {} for i = 1, 300 do n = n + i list[i] = left() if i % 100 == 0 then more() end end
        return table.concat(list, ' ')";
    let mut expected = None;
    for (mode, options) in MODES {
        let lua = Lua::new();
        lua.set_jit(mode != "interpreted");
        options.iter().for_each(|o| lua.jit_option(o).expect("an option"));
        let left = lua.create_function(|lua, ()| Ok(lua.fuel())).expect("a function");
        let more = |lua: &Lua, ()| {
            lua.set_fuel(lua.fuel().map(|n| n + 100));
            Ok(())
        };
        let more = lua.create_function(more).expect("a function");
        lua.set_fuel(Some(10_000));
        let seen: String = lua.load(program).call((left, more)).unwrap_or_else(|e| panic!("{mode}: {e}"));
        assert_eq!(expected.get_or_insert_with(|| seen.clone()), &seen, "{mode}");
    }
}

/// Finalizers run when the collector comes to them: the program's count is without theirs, and one that does not end is ended.
#[test]
fn finalizers_have_fuel_of_their_own() {
    let lua = Lua::new();
    let program = lua.load(
        "local p = newproxy(true) getmetatable(p).__gc = function() while true do end end p = nil collectgarbage() return 1",
    );
    let program = program.into_function().expect("a program");
    lua.set_fuel(Some(100_000));
    assert_eq!(program.call::<i32>(()).expect("the finalizer's error is not the program's"), 1);
    assert!(lua.fuel().is_some_and(|left| left > 99_000), "{:?}", lua.fuel());
}

#[test]
fn benchmarks_take_the_same_fuel() {
    check("benchmarks", &benchmarks(), &MODES[1..3], &[]);
}

#[test]
fn conformance_takes_the_same_fuel() {
    check("conformance", &conformance(), &MODES[1..3], &[0.6]);
}
