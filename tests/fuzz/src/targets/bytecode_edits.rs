//! Binary chunks that are nearly right: programs whose instructions, constants and descriptions have been edited one by one, so that
//! most of what the verifier looks at is as it should be.

use super::bytecode::run_chunk;
use crate::input::Input;
use crate::programs::PROGRAMS;
use perilune_vm::bc::{Ins, KGc, KNum, Op, ProtoData, dump};
use perilune_vm::source::Source;
use perilune_vm::syntax;

/// Edits of one chunk.
const MOST: usize = 24;

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (program, mode) = (input.of(PROGRAMS), input.byte());
    let mut main = match syntax::compile(Source::whole(program.as_bytes()), b"=program") {
        Ok(main) => main,
        Err(e) => panic!("{}", String::from_utf8_lossy(e.message().unwrap_or_default())),
    };
    for _ in 0..MOST {
        if input.is_empty() {
            break;
        }
        let which = usize::from(input.byte());
        let mut n = which % count(&main);
        if let Some(proto) = nth(&mut main, &mut n) {
            edit(proto, &mut input);
        }
    }
    run_chunk(&dump::write(&main, mode & 0x80 != 0), u32::from(mode));
}

/// How many functions there are.
fn count(proto: &ProtoData) -> usize {
    1 + proto.kgc.iter().map(|k| if let KGc::Proto(child) = k { count(child) } else { 0 }).sum::<usize>()
}

/// The function with a number, counted from the outermost.
fn nth<'a>(proto: &'a mut ProtoData, n: &mut usize) -> Option<&'a mut ProtoData> {
    if *n == 0 {
        return Some(proto);
    }
    *n -= 1;
    proto.kgc.iter_mut().find_map(|k| if let KGc::Proto(child) = k { nth(child, n) } else { None })
}

fn edit(p: &mut ProtoData, input: &mut Input) {
    let (what, at, value) = (input.byte(), usize::from(u16::from_le_bytes(input.array())), input.byte());
    let pc = at % p.bc.len().max(1);
    let Some(ins) = p.bc.get(pc).copied() else { return };
    match what % 20 {
        0..=2 => p.bc[pc] = ins.with_op(Op::ALL[usize::from(value) % Op::ALL.len()]),
        3 | 4 => p.bc[pc] = ins.with_a(value),
        5 | 6 => p.bc[pc] = ins.with_b(value),
        7 | 8 => p.bc[pc] = Ins(ins.0 & !0x00ff_0000 | u32::from(value) << 16),
        9 | 10 => p.bc[pc] = ins.with_d((ins.d() as u16).wrapping_add_signed(i16::from(value as i8))),
        11 => {
            let other = usize::from(value) % p.bc.len();
            p.bc.swap(pc, other);
        }
        12 => {
            let copy = p.bc[usize::from(value) % p.bc.len()];
            p.bc.insert(pc, copy);
            let line = p.lines.get(pc).copied().unwrap_or(0);
            p.lines.insert(pc.min(p.lines.len()), line);
        }
        // The header stays: a function without instructions has no binary form.
        13 if p.bc.len() > 1 => {
            p.bc.remove(pc);
            if pc < p.lines.len() {
                p.lines.remove(pc);
            }
        }
        14 => p.framesize = value,
        15 => p.num_params = value,
        16 => constants(p, at, value),
        17 => {
            if let Some(uv) = p.upvalues.len().checked_sub(1).and_then(|last| p.upvalues.get_mut(at % (last + 1))) {
                (uv.local, uv.immutable, uv.index) = (value & 0x80 != 0, value & 0x40 != 0, value & 0x3f);
            }
        }
        18 => (p.is_vararg, p.has_children) = (value & 1 != 0, value & 2 != 0),
        _ => {
            if let Some(var) = p.vars.get_mut(usize::from(value) % 8) {
                (var.start_pc, var.end_pc) = (at as u32, (at as u32).wrapping_add(u32::from(value)));
            }
        }
    }
}

fn constants(p: &mut ProtoData, at: usize, value: u8) {
    match value % 6 {
        0 => p.knum.push(KNum::Int(at as i32)),
        1 => drop(p.knum.pop()),
        2 => {
            if let Some(k) = p.knum.first_mut() {
                *k = KNum::Num(f64::from(value) / 7.0);
            }
        }
        3 => drop(p.kgc.pop()),
        4 => p.kgc.push(KGc::Str(Box::from(&b"__index"[..]))),
        _ => {
            if p.kgc.len() > 1 {
                let n = p.kgc.len();
                p.kgc.swap(at % n, usize::from(value) % n);
            }
        }
    }
}
