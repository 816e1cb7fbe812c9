//! Tests of dumps: round trips of all programs, and many broken dumps.

use super::liveness::Liveness;
use super::temporary::is_used_once;
use super::{Ins, KGc, KNum, Op, ProtoData, dump, undump};
use crate::Vm;
use crate::gc::tests::Rng;
use crate::object::{Func, Gc};
use crate::source::Source;
use crate::value::Value;
use std::path::Path;

fn compile(text: &[u8]) -> Result<ProtoData, crate::syntax::SyntaxError> {
    crate::syntax::compile(Source::whole(text), b"=t")
}

fn read(bytes: &[u8], name: &[u8]) -> Result<ProtoData, undump::UndumpError> {
    undump::read(&mut Source::whole(bytes), name)
}

/// All programs of the benchmarks and the conformance tests.
fn programs() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for folder in ["benches/programs", "tests/lua/lang", "tests/lua/jit"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a readable folder") {
            let path = entry.expect("a readable folder").path();
            if path.extension().is_some_and(|e| e == "lua") {
                all.push((path.display().to_string(), std::fs::read(&path).expect("a readable file")));
            }
        }
    }
    all.sort();
    assert!(all.len() > 100);
    all
}

fn vm() -> Box<Vm> {
    let mut vm = Vm::new();
    vm.open_libs();
    vm
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn dumps_of_all_programs_read_back() {
    let mut vm = vm();
    for (name, text) in programs() {
        let chunk = format!("@{name}");
        let f = vm.load_chunk(&text, chunk.as_bytes(), None).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        for strip in [false, true] {
            let bytes = vm.dump(f, strip).expect("a Lua function");
            let data = read(&bytes, chunk.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert!(dump::write(&data, strip) == bytes, "{name}: written again, it differs");
            let g = vm.load_chunk(&bytes, chunk.as_bytes(), Some(b"b")).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert!(vm.dump(g, strip).expect("a Lua function") == bytes, "{name}: dumped again, it differs");
            vm.push(Value::func(f));
            vm.push(Value::func(g));
            vm.full_gc();
            assert!(vm.dump(g, strip).expect("a Lua function") == bytes, "{name}: after a collection it differs");
            vm.pop();
            vm.pop();
        }
    }
}

#[test]
fn dumps_keep_all_of_a_prototype() {
    let text = b"local a, b = ... local function f(x, ...) b = x return a, ... end \
        for i = 1, 3 do f(i) end for k, v in pairs({1, x = 2.5, [true] = 'y'}) do f(k) end return f";
    let data = compile(text).unwrap();
    let back = read(&dump::write(&data, false), b"=other").unwrap();
    let fields = |p: &super::ProtoData| {
        format!("{:?}{:?}{:?}{:?}{:?}", p.bc, (p.knum.clone(), &p.upvalues), &p.vars, &p.lines, (&p.chunkname, &p.uv_names))
    };
    assert_eq!(fields(&data), fields(&back));
    let child = |p: &super::ProtoData| p.kgc.iter().find_map(|k| if let KGc::Proto(c) = k { Some(fields(c)) } else { None });
    assert_eq!(child(&data), child(&back));
}

/// The programs that mutations start from: they have every kind of instruction.
const SEEDS: [&str; 5] = [
    "local a, b, c = ... local t = {1, 2, 'x', n = 3, [2.5] = 4, a and b, ...} local s = 0 \
     for i = 1, 10, 2 do s = s + i * 2 - i / 3 % 4 + 2 ^ i if s > 100 and not a then break end end \
     for k, v in pairs(t) do s = s + (tonumber(v) or 1) end for i, v in ipairs(t) do t[i] = -s end \
     for w in ('a b c'):gmatch('%a') do t[w] = #w .. w .. s end \
     while s > 10 do s = s - 10 if s == 5 then goto out end end ::out:: \
     return s, t.n, (...), select('#', ...)",
    "local up, down = 1, {} local function f(x, ...) up = up + 1 down[up] = x if x <= 0 then return ... end return f(x - 1, x, ...) end \
     local fs = {} for i = 1, 5 do local j = i fs[i] = function() j = j + 1 up = nil up = 'k' up = 2.5 return j + i end end \
     repeat local z = #fs fs[z] = function() return z end until z > 3 \
     return f(5, f(2)), fs[1](), {f(3)}, select(2, f(1, 2, 3))",
    "local mt = {} mt.__index = function(t, k) return k end mt.__add = function(a, b) return 1 end mt.__call = function(s, ...) return ... end \
     mt.__eq = function() return true end mt.__lt = function() return false end mt.__concat = function(a, b) return 'c' end \
     local o, p = setmetatable({}, mt), setmetatable({}, mt) local r = o.x .. o .. p g = o + 1 \
     local co = coroutine.wrap(function(...) for i = 1, 3 do coroutine.yield(i, ...) end end) \
     co(1) co() return o(1, 2), o == p, o < p, r, pcall(error, o), o[1], o[g], (function(...) return ... end)(1, 2, 3)",
    "local n = 0 for i = 1, 300 do for j = 1, 3 do n = n + i * j end if n % 7 == 0 then n = n - 1 elseif n ~= 'x' then n = n + 0.5 end end \
     local x, y, z = nil, true, false local q = x or y and z or n == 3 x = x == nil y = not q \
     do local a do local b = function() return a end a = b end end return n, q, x, y, n > 1 and {n, [n] = n, nil} or nil",
    "local a, t = ..., {n = 1, f = function(...) return ... end} a = a ?? 7 local b = a | 3 ~ a << 2 & ~a >> 1 ~>> 1 \
     for i = 1, 9 do if i % 2 == 0 then continue end b += i t.n ..= i t?.x = i t.y?.z += i end \
     local x, y, z = t.f?.(1, 2, 3) local u, v = t:g?.(b) local c = b > 3 ? b : t?.n?.m const k = i -> i * b \
     return x, y, z, u, v, c, k(2), a?.b, (|...| -> do return ... end)(1, 2), t?.f(b), t?.[b] ?? t.q?.(1).r",
];

/// A VM whose library cannot reach outside, and a function that calls another with a limit of instructions.
fn sandbox() -> (Box<Vm>, Value) {
    let mut vm = vm();
    vm.set_memory_limit(Some(64 << 20));
    let text = b"local sethook, pcall, error = debug.sethook, pcall, error \
        io, os, debug, package, require, dofile, loadfile, load, loadstring, module, jit, print = nil \
        local function stop() error('limit') end \
        return function(f) sethook(stop, '', 2000) pcall(f, 1, {}, 'x') sethook() end";
    let f = vm.load_chunk(text, b"=sandbox", None).expect("it compiles");
    let run = vm.call1(Value::func(f), &[]).expect("it runs");
    let registry = vm.realm.registry;
    vm.set_field(registry, b"test.run", run);
    (vm, run)
}

/// Loads a dump, and runs it if it is accepted. Returns whether it was accepted.
fn try_run(vm: &mut Vm, run: Value, bytes: &[u8]) -> bool {
    let Ok(f) = vm.load_chunk(bytes, b"=fuzz", Some(b"b")) else { return false };
    let f = Value::func(f);
    assert!(vm.call1(run, &[f]).is_ok() || vm.errors.value.is_str());
    vm.set_hook(0, 0, core::ptr::null());
    true
}

#[test]
#[cfg_attr(miri, ignore = "takes too long")]
fn broken_dumps_are_refused_or_harmless() {
    let mut rng = Rng(0x5eed);
    let (mut vm, mut run) = sandbox();
    let seeds: Vec<Vec<u8>> =
        (0..SEEDS.len() * 2).map(|i| dump::write(&compile(SEEDS[i / 2].as_bytes()).expect("it compiles"), i % 2 == 0)).collect();
    for seed in &seeds {
        assert!(try_run(&mut vm, run, seed));
    }
    let mut accepted = 0;
    for round in 0..40_000 {
        if round % 500 == 0 {
            (vm, run) = sandbox();
        }
        let mut bytes = seeds[below(&mut rng, seeds.len())].clone();
        mutate(&mut rng, &mut bytes);
        accepted += u32::from(try_run(&mut vm, run, &bytes));
        if round % 50 == 0 {
            vm.full_gc();
        }
    }
    assert!(accepted > 500, "only {accepted} were accepted: nothing is tested");
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u32) as usize
}

/// Breaks some bytes.
fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    match rng.below(20) {
        0 => bytes.truncate(below(rng, bytes.len())),
        1 => {
            let (at, n) = (below(rng, bytes.len()), below(rng, 20));
            let copy: Vec<u8> = bytes[at..(at + n).min(bytes.len())].to_vec();
            let to = below(rng, bytes.len());
            bytes.splice(to..to, copy);
        }
        2 => {
            let n = rng.below(60);
            bytes.truncate(5);
            bytes.extend((0..n).map(|_| rng.below(256) as u8));
        }
        _ => {
            for _ in 0..=rng.below(2) {
                let at = below(rng, bytes.len() - 5) + 5;
                bytes[at] = match rng.below(4) {
                    0 => bytes[at] ^ 1 << rng.below(8),
                    1 => bytes[at].wrapping_add(1),
                    2 => bytes[at].wrapping_sub(1),
                    _ => rng.below(256) as u8,
                };
            }
        }
    }
}

/// Verifies a program after its instructions were edited.
fn edited(text: &str, edit: impl FnOnce(&mut ProtoData)) -> Result<(), undump::UndumpError> {
    let mut data = compile(text.as_bytes()).expect("it compiles");
    edit(&mut data);
    read(&dump::write(&data, false), b"=t").map(|_| ())
}

/// The first instruction of a kind.
fn find(p: &super::ProtoData, op: Op) -> usize {
    p.bc.iter().position(|i| i.op() == op).expect("such an instruction")
}

#[test]
fn the_verifier_refuses() {
    use super::Ins;
    let bad = |text: &str, op: Op, change: fn(Ins) -> Ins| {
        let result = edited(text, |p| {
            let at = find(p, op);
            p.bc[at] = change(p.bc[at]);
        });
        assert_eq!(result, Err(undump::UndumpError::Malformed), "{op:?} in {text}");
    };
    // Internal forms.
    bad("while x do end", Op::LOOP, |i| i.with_op(Op::JLOOP));
    bad("while x do end", Op::LOOP, |i| i.with_op(Op::ILOOP));
    bad("for i = 1, 2 do end", Op::FORI, |i| i.with_op(Op::JFORI));
    bad("return 1", Op::RET1, |i| i.with_op(Op::FUNCC));
    // Operands out of range.
    bad("local a = 1 return a", Op::KSHORT, |i| i.with_a(9));
    bad("local a = 'x' return a", Op::KSTR, |i| i.with_d(5));
    bad("local a = 0.5 return a", Op::KNUM, |i| i.with_d(1));
    bad("local a, b return a", Op::KNIL, |i| i.with_d(200));
    bad("local a = true return a", Op::KPRI, |i| i.with_d(3));
    bad("f(1, 2)", Op::CALL, |_| Ins::abc(Op::CALL, 0, 1, 40));
    bad("local a = ... return a", Op::VARG, |i| i.with_b(100));
    bad("return 1, 2", Op::RET, |i| i.with_d(9));
    bad("local t = {} return t", Op::TNEW, |i| i.with_d(31 << 11));
    // Reading a slot without a value.
    bad("local a = 1 return a", Op::KSHORT, |_| Ins::aj(Op::JMP, 0, 0));
    // A variable number of values.
    bad("f(g())", Op::CALL, |i| i.with_b(2));
    bad("f(g())", Op::CALLM, |_| Ins::abc(Op::CALLM, 0, 1, 1));
    bad("return f(g())", Op::CALLMT, |i| i.with_op(Op::CALLT).with_d(2));
    // Jumps and loops.
    bad("if x then y = 1 end", Op::JMP, |i| i.with_d(0x8100));
    bad("if x then y = 1 end", Op::JMP, |i| Ins::ad(Op::KSHORT, i.a() as u8, 0));
    bad("for i = 1, 2 do x = i end", Op::FORL, |i| Ins::aj(Op::FORL, i.a() as u8, -1));
    bad("for i = 1, 2 do x = i end", Op::FORL, |i| i.with_op(Op::JMP));
    bad("local x = 1 repeat x = x - 1 until x < 0", Op::LOOP, |i| i.with_a(0));
    bad("for i = 1, 2 do local x = i end", Op::MOV, |i| i.with_a(0));
    bad("for k in pairs(t) do local x = k end", Op::MOV, |i| i.with_a(2));
    bad("for k in pairs(t) do local x = k end", Op::MOV, |i| i.with_d(2));
    bad("for k in pairs(t) do end", Op::ISNEXT, |i| i.with_op(Op::JMP));
    bad("for k in foo(t) do end", Op::ITERC, |i| i.with_op(Op::ITERN));
    // Closures.
    bad("local a = 1 do local b = 2 f = function() return b end end g(1)", Op::UCLO, |i| i.with_op(Op::JMP));
    bad("local a = 1 f = function() return a end", Op::UCLO, |i| i.with_a(1));
    let result = edited("local a = 1 return function() return a end", |p| {
        for k in &mut p.kgc {
            if let KGc::Proto(child) = k {
                child.upvalues[0].index = 77;
            }
        }
    });
    assert_eq!(result, Err(undump::UndumpError::Malformed));
    // Constants are numbers, whatever their bits.
    let evil = f64::from_bits(0xfffa_1234_5678_9abc);
    let mut data = compile(b"return 0.5").unwrap();
    data.knum[0] = KNum::Num(evil);
    let back = read(&dump::write(&data, true), b"=t").unwrap();
    assert!(matches!(back.knum[0], KNum::Num(n) if n.to_bits() == f64::NAN.to_bits()));
}

#[test]
fn every_truncation_is_refused() {
    let data = compile(SEEDS[1].as_bytes()).unwrap();
    for strip in [false, true] {
        let bytes = dump::write(&data, strip);
        assert!(read(&bytes, b"=t").is_ok());
        for n in 0..bytes.len() {
            assert!(read(&bytes[..n], b"=t").is_err(), "{n} bytes");
        }
    }
}

/// The live slots (of the first eight) before the first instruction that loads the constant `k`.
fn live_at(vm: &mut Vm, source: &str, k: i32) -> Vec<usize> {
    let f = vm.load_chunk(source.as_bytes(), b"=test", None).expect("a program");
    let proto = f.proto().expect("a Lua function");
    let ins = |pc| proto.ins(pc).unwrap_or(Ins(0));
    let at = (1..proto.code_len()).find(|&pc| ins(pc).op() == Op::KSHORT && i32::from(ins(pc).d() as u16 as i16) == k);
    let live = Liveness::new(&proto, ins).expect("a short function");
    (0..8).filter(|&slot| live.is_live(at.expect("the constant"), slot)).collect()
}

#[test]
fn variables_are_in_scope_in_their_blocks() {
    let mut vm = vm();
    let source = b"local a, b = 1, 2 do local c = 3 end for i = a, b do local d = 77 end return a";
    let f = vm.load_chunk(source, b"=test", None).expect("a program");
    let stripped = vm.dump(f, true).expect("a Lua function");
    let stripped = vm.load_chunk(&stripped, b"=test", None).expect("its bytecode");
    let variables = |f: Gc<Func>| -> Vec<usize> {
        let proto = f.proto().expect("a Lua function");
        let ins = |pc| proto.ins(pc).unwrap_or(Ins(0));
        let at = (1..proto.code_len()).find(|&pc| ins(pc).op() == Op::KSHORT && ins(pc).d() == 77).expect("the constant");
        let live = Liveness::new(&proto, ins).expect("a short function");
        (0..8).filter(|&slot| live.is_variable(at, slot)).collect()
    };
    // The loop has three slots of its own in front of `i`.
    assert_eq!(variables(f), [0, 1, 2, 3, 4, 5]);
    assert_eq!(variables(stripped), [0, 1, 2, 3, 4, 5, 6, 7], "not known");
}

#[test]
fn slots_are_live_while_they_may_be_read() {
    let mut vm = vm();
    let mut check = |source: &str, wanted: &[usize]| assert_eq!(live_at(&mut vm, source, 77), wanted, "{source}");
    check("local a, b, c = 1, 2, 3 a = 77 return a, c", &[2]);
    check("local a, b = 1, 2 if b then a = 77 end return a", &[]);
    check("local a, b = 1, 2 local c = 77 if b then a = c end return a", &[0, 1]);
    // In a loop: the slots that the next iteration reads, and the loop's own.
    check("local a, b = 1, 2 for i = 1, 9 do a = 77 end return b", &[1, 2, 3, 4]);
    check("local a, b = 1, 2 while b do b = a a = 77 end return 1", &[1]);
    check("local a, b, c for k, v in next, {} do a = 77 b = k end return a", &[3, 4, 5, 6]);
    // Slots that a closure may refer to.
    check("local a, b = 1, 2 local f = function() return b end local c = 77 return c", &[1]);
    // Arguments, and open lists.
    check("local a, b = 1, 2 local c = 77 return f(c, a)", &[0]);
    check("local a = {...} local b = 77 return b, unpack(a)", &[0]);
}

/// For each value that indexing leaves in a slot and that is indexed itself: is that its only use?
fn uses_of_temporaries(vm: &mut Vm, source: &str) -> Vec<bool> {
    let f = vm.load_chunk(source.as_bytes(), b"=test", None).expect("a program");
    let p = f.proto().expect("a Lua function");
    let ins = |pc| p.ins(pc).unwrap_or(Ins(0));
    let gets = |op| matches!(op, Op::TGETV | Op::TGETS | Op::TGETB);
    let sets = |op| matches!(op, Op::TSETV | Op::TSETS | Op::TSETB);
    let mut found = Vec::new();
    for made in (1..p.code_len()).filter(|&pc| gets(ins(pc).op())) {
        let mut after = made + 1..p.code_len();
        if after.any(|pc| (gets(ins(pc).op()) || sets(ins(pc).op())) && ins(pc).b() == ins(made).a()) {
            found.push(is_used_once(&p, made));
        }
    }
    found
}

#[test]
fn temporaries_are_used_once() {
    let mut vm = vm();
    let mut check = |source: &str, wanted: &[bool]| assert_eq!(uses_of_temporaries(&mut vm, source), wanted, "{source}");
    check("local a, i = ... return a[i].x", &[true]);
    check("local a, i = ... local y = a[i].x.y.z", &[true, true, true]);
    check("local a, i = ... a[i].x = 1", &[true]);
    check("local a, i = ... a[i].x = i * 2 + 1 a[2].y = i", &[true, true]);
    check("local a = ... for i = 1, 9 do a[i].x = i end return a", &[true]);
    check("local a, i = ... while i do a[i].x = i end return a", &[true]);
    check("local a, i = ... repeat a[i].x = i i = i + 1 until i > 9 return a", &[true]);
    // Variables, and values that are used again.
    check("local a, i = ... local p = a[i] p.x = 1 p = nil", &[false]);
    check("local a, i = ... local p = a[i].x p.y = 1", &[true, false]);
    check("local a, i = ... a[a[i].x].y = 1", &[true, false, true]);
    check("local a, i = ... return a[i][a[i]]", &[true]);
    check("local a, i = ... a[i].x = a[i]", &[true]);
    // Calls and branches in between or afterwards.
    check("local a, i, f = ... a[i].x = f()", &[false]);
    check("local a, i, f = ... a[i].x = i f()", &[true]);
    check("local a, i, f = ... local p = a[i] f() p.x = i", &[false]);
    check("local a, i = ... a[i].x = i and 1 or 2", &[false]);
    check("local a, i = ... if i then a[i].x = 1 end a.b.c = 1", &[true, true]);
}
