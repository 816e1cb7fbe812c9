//! Sites of traces for the memory profiler and the sampling profiler ([`perilune_vm::gc::watch::Site`]): where a trace starts, and which
//! bytecode each of its instructions was compiled from.

use perilune_recorder::ir::Op;
use perilune_recorder::rec::FinishedTrace;
use perilune_vm::gc::watch::Site;
use perilune_vm::object::{BcAddr, Gc, Proto};
use perilune_vm::{TraceId, Vm};

/// The function of the instruction at an address, and the line.
fn line(done: &FinishedTrace, pc: impl Into<BcAddr> + Copy) -> Option<(Gc<Proto>, u32)> {
    done.protos.iter().find_map(|p| p.pc_of(pc).map(|at| (*p, p.line(at))))
}

/// Site numbers for the instructions of a trace that is about to be compiled; empty if no profiler needs sites.
pub fn of(vm: &mut Vm, done: &FinishedTrace, id: TraceId) -> Vec<u32> {
    if !vm.wants_sites() {
        return Vec::new();
    }
    let mut sites = vec![0; done.trace.ins.len()];
    let (mut proto, mut at) = start(done).unzip();
    let mut before = None;
    let mut site = 0;
    for (i, ins) in done.trace.ins.iter().enumerate() {
        let here = done.trace.origin_at(i);
        // A NATIVE has a site of its own, which tells the builtin from helpers of the same bytecode instruction.
        if before != Some(here) || ins.op == Op::NATIVE || i > 0 && done.trace.ins[i - 1].op == Op::NATIVE {
            before = Some(here);
            if let Some((p, l)) = line(done, here.pc) {
                (proto, at) = (Some(p), Some(l));
            }
            if let (Some(proto), Some(line)) = (proto, at) {
                site = vm.add_site(Site { trace: id, proto, line, ins: i as u16 }).unwrap_or(0);
            }
        }
        if ins.op != Op::NOP {
            sites[i] = site;
        }
    }
    sites
}

/// The function that a trace starts in, and the line.
fn start(done: &FinishedTrace) -> Option<(Gc<Proto>, u32)> {
    line(done, done.start_pc).or_else(|| line(done, done.first_pc)).or_else(|| done.protos.first().map(|p| (*p, p.first_line)))
}

/// Reports a new trace to the profilers.
pub fn report_trace(vm: &mut Vm, done: &FinishedTrace, id: TraceId) {
    if let Some((proto, line)) = start(done) {
        vm.report_trace(id, proto, line);
    }
}
