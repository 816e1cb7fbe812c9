//! Makes a profile of what the VM tells.

use super::HashMap;
use super::OnEnd;
use super::model::{Doing, Frame, Function, Profile, TraceInfo};
use core::cell::RefCell;
use core::time::Duration;
use perilune_jit::Jit;
use perilune_jit::view::locate::Located;
use perilune_vm::bc::Op;
use perilune_vm::interp::defname::names_of_children;
use perilune_vm::interp::frames::name_of_callee;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::sample::{Callee, Consumer, INTERRUPTED, Part, Sample, Stack, StackFrame};
use perilune_vm::state::Activity;
use perilune_vm::stdlib::{Builtin, os};
use perilune_vm::text::chunk::chunk_id;
use perilune_vm::{TraceId, Vm};
use std::rc::Rc;
use std::time::Instant;

/// Takes samples.
pub struct Sampler {
    jit: Option<Rc<Jit>>,
    inner: RefCell<Inner>,
}

struct Inner {
    /// None when it was given away.
    profile: Option<Profile>,
    on_end: Option<OnEnd>,
    began: Instant,
    functions: HashMap<Identity, u32>,
    /// What functions are called where they are defined.
    names: HashMap<Identity, String>,
    /// Frames by address of the function and index of the instruction. Addresses mean something until the collector has freed
    /// functions.
    frames: HashMap<(*const Proto, usize), u32>,
    traces: HashMap<TraceInfo, u32>,
}

/// What tells functions from one another.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// Chunk name, first and last line, number of instructions.
    Lua(Vec<u8>, u32, u32, usize),
    Builtin(u32),
    /// A builtin without a number, by the name that it is called by.
    Native(String),
}

impl Identity {
    fn of(p: Gc<Proto>) -> Identity {
        Identity::Lua(p.chunkname.bytes().to_vec(), p.first_line, p.last_line, p.code_len())
    }
}

/// A running function, and the index of its instruction if it is known.
#[derive(Copy, Clone)]
enum Running {
    Lua(Gc<Proto>, Option<usize>),
    Builtin(u32),
}

impl Running {
    fn new(frame: StackFrame) -> Running {
        match frame.callee {
            Callee::Lua(p) => Running::Lua(p, frame.pc),
            Callee::Builtin(f) => Running::Builtin(f.ffid()),
        }
    }
    /// Is it shown? What protects a call is not there in compiled code.
    fn is_shown(&self) -> bool {
        !matches!(self, Running::Builtin(id) if *id == Builtin::Pcall.id() || *id == Builtin::Xpcall.id())
    }
}

impl Sampler {
    pub fn new(vm: &Vm, interval: Duration, on_end: Option<OnEnd>) -> Sampler {
        let inner = Inner {
            profile: Some(Profile::new(interval)),
            on_end,
            began: Instant::now(),
            functions: HashMap::default(),
            names: HashMap::default(),
            frames: HashMap::default(),
            traces: HashMap::default(),
        };
        Sampler { jit: Jit::of(vm), inner: RefCell::new(inner) }
    }
    /// The profile, once.
    pub fn finish(&self) -> Option<Profile> {
        let mut inner = self.inner.borrow_mut();
        let mut profile = inner.profile.take()?;
        profile.duration = inner.began.elapsed();
        Some(profile)
    }
}

impl Consumer for Sampler {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        let stack = Stack::of(vm);
        for part in &sample.parts {
            let located = part.place.and_then(|place| self.jit.as_ref()?.locate(vm, place));
            let mut inner = self.inner.borrow_mut();
            match located {
                Some(at) => {
                    let mut stack = stack.clone();
                    if at.put_on(&mut stack.frames, stack.own) {
                        stack.own = at.functions.len();
                    }
                    inner.compiled(self.jit.as_deref(), &at, stack, part);
                }
                None => inner.interpreted(&stack, part),
            }
        }
    }
    fn compiled(&self, vm: &Vm, part: Part, mut stack: Stack) {
        let located = part.place.and_then(|place| self.jit.as_ref()?.locate(vm, place));
        let mut inner = self.inner.borrow_mut();
        match located {
            Some(at) => {
                at.put_on_walked(&mut stack.frames);
                inner.compiled(self.jit.as_deref(), &at, stack, &part);
            }
            None => inner.interpreted(&stack, &part),
        }
    }
    fn loaded(&self, proto: Gc<Proto>) {
        self.inner.borrow_mut().name_children(proto);
    }
    fn interrupted(&self, vm: &mut Vm) {
        os::end_process(vm, INTERRUPTED);
    }
    fn forget(&self) {
        self.inner.borrow_mut().frames.clear();
    }
    fn end(&self, _: &mut Vm) {
        let on_end = self.inner.borrow_mut().on_end.take();
        if let (Some(profile), Some(on_end)) = (self.finish(), on_end) {
            crate::foreign::run(|| on_end(profile));
        }
    }
}

impl Inner {
    fn interpreted(&mut self, stack: &Stack, part: &Part) {
        let doing = doing(part.activity);
        let mut running: Vec<Running> = Vec::with_capacity(stack.frames.len() + 1);
        let mut frames = stack.frames.as_slice();
        if doing == Doing::Builtin {
            running.push(Running::Builtin(part.builtin));
            frames = stack.below_builtin(part.builtin);
        }
        running.extend(frames.iter().map(|f| Running::new(*f)));
        // The builtin has returned: the instruction before called it.
        if doing == Doing::Builtin
            && let Some(Running::Lua(p, Some(pc))) = running.get_mut(1)
            && let Some(call) = pc.checked_sub(1)
            && p.ins(call).is_some_and(|i| matches!(i.op(), Op::CALL | Op::CALLM | Op::ITERC))
        {
            *pc = call;
        }
        self.add(&running, stack.whole, doing, None, part);
    }
    /// A sample in compiled code, whose stack has the functions that the trace has inlined.
    fn compiled(&mut self, jit: Option<&Jit>, at: &Located, stack: Stack, part: &Part) {
        let mut doing = doing(part.activity);
        let mut running: Vec<Running> = Vec::with_capacity(stack.frames.len() + 1);
        if let Some(builtin) = at.builtin.filter(|_| doing == Doing::Compiled) {
            running.push(Running::Builtin(builtin));
            doing = Doing::Builtin;
        }
        running.extend(stack.frames.into_iter().map(Running::new));
        let trace = self.trace(jit, at.trace).map(|t| (t, at.exit));
        self.add(&running, stack.whole, doing, trace, part);
    }
    fn add(&mut self, running: &[Running], whole: bool, doing: Doing, trace: Option<(u32, Option<u32>)>, part: &Part) {
        let frames = self.frames(running);
        if let Some(profile) = &mut self.profile {
            profile.add(&frames, whole, doing, trace, part.count.into());
        }
    }

    fn trace(&mut self, jit: Option<&Jit>, number: TraceId) -> Option<u32> {
        let name = jit?.trace_name(number)?;
        let place = name.start.map_or_else(|| "?".to_owned(), |pos| format!("{}:{}", file(pos.proto), pos.proto.line(pos.pc())));
        let place = place.rsplit('/').next().unwrap_or_default().to_owned();
        let info = TraceInfo { number, place, parent: name.parent, link: name.link };
        if let Some(&known) = self.traces.get(&info) {
            return Some(known);
        }
        let traces = &mut self.profile.as_mut()?.traces;
        let new = traces.len() as u32;
        traces.push(info.clone());
        self.traces.insert(info, new);
        Some(new)
    }

    /// Numbers of the frames that are shown.
    fn frames(&mut self, stack: &[Running]) -> Vec<u32> {
        let mut frames = Vec::with_capacity(stack.len());
        for (i, running) in stack.iter().enumerate() {
            if running.is_shown()
                && let Some(frame) = self.frame(*running, stack.get(i + 1).copied())
            {
                frames.push(frame);
            }
        }
        frames
    }
    fn frame(&mut self, running: Running, caller: Option<Running>) -> Option<u32> {
        let key = match running {
            Running::Lua(p, pc) => Some((p.as_ptr().cast_const(), pc.unwrap_or(usize::MAX))),
            Running::Builtin(_) => None,
        };
        if let Some(known) = key.and_then(|k| self.frames.get(&k)) {
            return Some(*known);
        }
        let function = self.function(running, caller)?;
        let line = match running {
            Running::Lua(p, pc) => pc.map_or(0, |pc| p.line(pc)),
            Running::Builtin(_) => 0,
        };
        let frame = self.profile.as_mut()?.frame(Frame { function, line });
        if let Some(key) = key {
            self.frames.insert(key, frame);
        }
        Some(frame)
    }
    /// Notes what the functions are called that are defined in one.
    fn name_children(&mut self, p: Gc<Proto>) {
        for (child, name) in names_of_children(p) {
            self.names.insert(Identity::of(child), String::from_utf8_lossy(&name).into_owned());
        }
    }
    fn function(&mut self, running: Running, caller: Option<Running>) -> Option<u32> {
        let called = match caller {
            Some(Running::Lua(p, Some(pc))) => name_of_callee(p, pc),
            _ => None,
        };
        let called = called.filter(|(kind, name)| *kind != "metamethod" && name.first() != Some(&b'('));
        let called = called.map(|(_, name)| String::from_utf8_lossy(&name).into_owned());
        let identity = match running {
            Running::Lua(p, _) => Identity::of(p),
            Running::Builtin(id) if id > 1 => Identity::Builtin(id),
            Running::Builtin(_) => Identity::Native(called.clone().unwrap_or_else(|| "builtin".to_owned())),
        };
        if let Some(&known) = self.functions.get(&identity) {
            let function = &mut self.profile.as_mut()?.functions[known as usize];
            // The first time it may have been called by something that has no name for it.
            if let (Some(name), "function") = (called, &*function.name) {
                function.name = name;
            }
            return Some(known);
        }
        if let Running::Lua(p, _) = running {
            self.name_children(p);
        }
        let new = match (&identity, running) {
            (Identity::Lua(..), Running::Lua(p, _)) => {
                let defined = self.names.get(&identity).cloned().or(called);
                let name = if p.is_main() { "main chunk".to_owned() } else { defined.unwrap_or_else(|| "function".to_owned()) };
                Function { name, file: file(p), line: p.first_line }
            }
            (Identity::Native(name), _) => Function { name: name.clone(), file: String::new(), line: 0 },
            (_, Running::Builtin(id)) => {
                let name = Builtin::NAMES.get(id as usize).map_or("builtin", |n| *n);
                Function { name: name.to_owned(), file: String::new(), line: 0 }
            }
            _ => return None,
        };
        let functions = &mut self.profile.as_mut()?.functions;
        functions.push(new);
        let number = functions.len() as u32 - 1;
        self.functions.insert(identity, number);
        Some(number)
    }
}

/// The file of a function, or else the display form of its chunk's name.
fn file(p: Gc<Proto>) -> String {
    let name = match p.chunkname.bytes() {
        [b'@', rest @ ..] => rest.to_vec(),
        other => chunk_id(other),
    };
    String::from_utf8_lossy(&name).into_owned()
}

fn doing(activity: u8) -> Doing {
    match activity {
        a if a == Activity::Compiled as u8 => Doing::Compiled,
        a if a == Activity::Builtin as u8 => Doing::Builtin,
        a if a == Activity::Collector as u8 => Doing::Collecting,
        a if [Activity::Compiler, Activity::Optimizer, Activity::Assembler].iter().any(|c| *c as u8 == a) => Doing::Compiling,
        a if a == Activity::Exit as u8 => Doing::Leaving,
        _ => Doing::Interpreting,
    }
}
