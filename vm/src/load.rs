//! From source text or a binary chunk to a function: compiling or reading, and building prototypes in the heap; and the life of a VM.
#![allow(unsafe_code, reason = "the stack of the main coroutine has room for the frame of the host")]

use crate::Vm;
use crate::bc::undump::{self, UndumpError};
use crate::bc::{Ins, Op, ProtoData, dump};
use crate::compilation_cache::{self, CompilationCache, Kept};
use crate::error::{LuaError, LuaResult};
use crate::gc::allocator::HostAllocator;
use crate::gc::heap::random_seed;
use crate::gc::{Heap, Marker};
use crate::hooks::{Compiler, Resume};
use crate::host::HostState;
use crate::ids::ExitId;
use crate::interp::{frame, stack};
use crate::interrupt::{Cause, Interrupts};
use crate::meta::MM;
use crate::object::{ChangedFields, Func, Gc, InsPtr, Proto, Str, Table, ThreadStatus};
use crate::source::{Form, Pieces, Source};
use crate::state::{CallbackState, CompiledState, DepthLimits, ErrorState, Fuel, InterpState, Realm, RunState, StringState};
use crate::stdlib::{Builtin, put_value};
use crate::syntax::{self, Diagnostic};
use crate::value::Value;
use core::any::Any;
use core::marker::PhantomPinned;
use std::rc::Rc;
use std::sync::Arc;

/// Levels of nested syntax that take no more of the native stack than one call from Rust into Lua may.
const LEVELS_OF_A_CALL: u32 = 3;

/// No compiler: the interpreter alone.
pub struct NoJit;

impl Compiler for NoJit {
    fn hot(&self, _vm: &mut Vm, _pc: InsPtr) {}
    fn record(&self, _vm: &mut Vm, _pc: InsPtr) {}
    fn exit(&self, _vm: &mut Vm, _exit: ExitId) -> Resume {
        Resume::at(core::ptr::null(), 0)
    }
    fn abort(&self, _vm: &mut Vm) {}
    fn constant_changed(&self, _vm: &mut Vm) {}
    fn fields_changed(&self, _vm: &mut Vm, _changed: ChangedFields) {}
    fn new_proto(&self, _vm: &mut Vm, _proto: Gc<Proto>) {}
    fn free_proto(&self, _proto: Gc<Proto>, _waiting: bool) {}
    fn original_ins(&self, _patched: Ins) -> Ins {
        Ins::ad(Op::JMP, 0, 0x8000)
    }
    fn mark(&self, _marker: &mut Marker) {}
    fn mark_traces(&self, _proto: Gc<Proto>, _waiting: bool, _marker: &mut Marker) {}
    fn as_any(&self) -> &dyn Any {
        self
    }
}

unsafe extern "C" fn no_trace(_vm: *mut Vm, _base: *mut Value, _trace: u32) -> u64 {
    0
}

fn no_frame(_vm: &mut Vm) -> LuaResult<u32> {
    Ok(0)
}

/// The reader of the pieces of a chunk.
struct Reader<'a> {
    vm: &'a mut Vm,
    next: &'a mut dyn FnMut(&mut Vm) -> LuaResult<Option<Gc<Str>>>,
    /// Bytes read so far.
    bytes: usize,
    /// Number of bytes at which the memory limit is checked again.
    look: usize,
}

impl Pieces for Reader<'_> {
    fn next(&mut self, into: &mut Vec<u8>, depth: u32) -> LuaResult<bool> {
        // The function that supplies the pieces is called from inside the parser's recursion.
        let weight = 1 + depth / LEVELS_OF_A_CALL;
        self.vm.interp.native_depth += weight;
        let piece = (self.next)(self.vm);
        self.vm.interp.native_depth -= weight;
        let Some(piece) = piece?.filter(|s| !s.is_empty()) else { return Ok(false) };
        self.vm.room(into, piece.len())?;
        into.extend_from_slice(piece.bytes());
        self.bytes += piece.len();
        if self.bytes >= self.look {
            if !self.vm.has_room_for_source(self.bytes) {
                return Err(self.vm.out_of_memory());
            }
            // The parser's own memory grows with the source.
            self.look = self.bytes + self.bytes / 4 + (64 << 10);
        }
        Ok(true)
    }
}

/// Bytes of a chunk that are compiled between two looks at interrupts.
const PART: usize = 64 << 10;

/// A chunk that is there, in parts, so that compiling a long one can be interrupted.
struct Parts<'a> {
    vm: &'a Vm,
    rest: &'a [u8],
}

impl Pieces for Parts<'_> {
    fn next(&mut self, into: &mut Vec<u8>, _: u32) -> LuaResult<bool> {
        if self.vm.interrupt_waits().is_some() {
            return Err(LuaError::parked());
        }
        let (part, rest) = self.rest.split_at(self.rest.len().min(PART));
        into.extend_from_slice(part);
        self.rest = rest;
        Ok(!part.is_empty())
    }
}

/// Why a chunk was not loaded.
#[derive(Clone, Debug)]
pub enum LoadError {
    /// The text does not compile.
    Syntax(Diagnostic),
    /// It is not a chunk, or one that may not be loaded.
    Other(Vec<u8>),
}

impl LoadError {
    fn plain(message: &str) -> LoadError {
        LoadError::Other(message.into())
    }
    /// The message, as `load` returns it.
    pub fn message(&self) -> &[u8] {
        match self {
            LoadError::Syntax(d) => &d.message,
            LoadError::Other(message) => message,
        }
    }
}

/// Reads the prototype data of a chunk, or a message; none if the function that supplies the pieces failed.
fn read(mut source: Source, name: &[u8], mode: Option<&[u8]>) -> Result<ProtoData, Option<LoadError>> {
    let form = source.open();
    if source.failed() {
        return Err(None);
    }
    if form == Form::Hidden {
        return Err(Some(LoadError::plain(UndumpError::Malformed.message())));
    }
    let letter = if form == Form::Binary { b'b' } else { b't' };
    if mode.is_some_and(|m| !m.contains(&letter)) {
        return Err(Some(LoadError::plain("attempt to load chunk with wrong mode")));
    }
    if form == Form::Text {
        return syntax::compile(source, name).map_err(|e| e.into_diagnostic().map(LoadError::Syntax));
    }
    let data = undump::read(&mut source, name);
    if source.failed() {
        return Err(None);
    }
    data.map_err(|e| {
        let shown = match name {
            [b'@' | b'=', rest @ ..] => rest,
            [0x1b, ..] => b"(binary)",
            _ => name,
        };
        Some(LoadError::Other([shown, b": ", e.message().as_bytes()].concat()))
    })
}

impl Vm {
    /// A new state without libraries (see [`Vm::open_libs`]).
    pub fn new() -> Box<Vm> {
        Vm::with_heap(Heap::new())
    }
    /// The same with memory from an allocator of the host. [`Heap::is_full`] if that has refused some.
    ///
    /// # Safety
    /// As for [`Vm::set_allocator`].
    pub unsafe fn with_allocator(allocator: HostAllocator) -> Box<Vm> {
        Vm::with_heap(Heap::with(random_seed(), Some(allocator)))
    }
    fn with_heap(mut heap: Heap) -> Box<Vm> {
        // SAFETY: it is replaced by the globals below before anybody follows it.
        let dangling: Gc<Table> = unsafe { Gc::from_addr(8) };
        let main = heap.new_thread(dangling, stack::INITIAL * 4);
        main.status.set(ThreadStatus::Running);
        let interrupt = Arc::clone(&heap.interrupt);
        let mut vm = Box::new(Vm {
            base: core::ptr::null_mut(),
            top: core::ptr::null_mut(),
            stack_limit: core::ptr::null_mut(),
            cur: main,
            pc: core::ptr::null(),
            multres: 0,
            running: RunState::default(),
            compiled: CompiledState::new(no_trace),
            interp: InterpState::default(),
            heap,
            realm: Realm::new(main, dangling, Builtin::Next.id()),
            errors: ErrorState::default(),
            callback: CallbackState::default(),
            compiler: Rc::new(NoJit),
            observer: None,
            host: HostState::default(),
            ffi: None,
            strings: StringState::default(),
            interrupts: Interrupts::new(interrupt),
            fuel: Fuel::default(),
            depth: DepthLimits::MOST,
            compilation_cache: CompilationCache::default(),
            pinned: PhantomPinned,
        });
        vm.update_dispatch();
        let globals = vm.new_table(0, 6);
        vm.realm.globals = globals;
        main.env.set(globals);
        vm.realm.registry = vm.new_table(0, 3);
        for (i, name) in MM::NAMES.iter().enumerate() {
            vm.realm.meta_names[i] = Some(vm.new_fixed_str(name.as_bytes()));
        }
        for v in [Value::NIL, Value::FALSE, Value::TRUE] {
            let mut name = Vec::new();
            put_value(&mut name, v);
            vm.realm.pri_names[v.type_index()] = Some(vm.new_fixed_str(&name));
        }
        let host = vm.new_native(no_frame, 1, &[]);
        // SAFETY: the new stack has room for the host's frame.
        unsafe {
            let s = main.stack.get();
            *s = Value::func(host);
            *s.add(1) = frame::link(0, frame::C);
            vm.base = s.add(2);
            vm.top = s.add(2);
        }
        vm.update_limit();
        vm
    }
    /// Compiles a chunk, or reads a binary one; `mode` as in `load`. The error is a message.
    pub fn load_chunk(&mut self, source: &[u8], name: &[u8], mode: Option<&[u8]>) -> Result<Gc<Func>, Gc<Str>> {
        if source.first() != Some(&0x1b) && !self.has_room_for_source(source.len()) {
            return Err(self.heap.no_memory());
        }
        self.compile(source, name, mode).map_err(|e| self.new_str(e.message()))
    }
    /// The same with an error that has a position.
    pub fn load_source(&mut self, source: &[u8], name: &[u8], mode: Option<&[u8]>) -> Result<Gc<Func>, LoadError> {
        if !self.has_room_for_source(source.len()) {
            return Err(LoadError::Other(self.heap.no_memory().bytes().to_vec()));
        }
        self.compile(source, name, mode)
    }
    fn compile(&mut self, source: &[u8], name: &[u8], mode: Option<&[u8]>) -> Result<Gc<Func>, LoadError> {
        // A handler of the event `bc` is called for each load.
        let watched = self.host.event_handlers.iter().any(|(name, _)| **name == *b"bc");
        let is_text = source.first() != Some(&0x1b) && mode.is_none_or(|m| m.contains(&b't'));
        if watched || !is_text || source.len() > compilation_cache::LONGEST {
            return self.compile_anew(source, name, mode);
        }
        let hash = u64::from(self.heap.strings.hash(source)) << 32 | u64::from(self.heap.strings.hash(name));
        let is_same = |kept: &Kept<Gc<Str>, Gc<Proto>>| kept.source.bytes() == source && kept.name.bytes() == name;
        if let Some(proto) = self.compilation_cache.find(hash, is_same) {
            return Ok(self.new_lua_func(proto, self.cur.env.get()));
        }
        let f = self.compile_anew(source, name, mode)?;
        if let Some(proto) = f.proto() {
            let heap = &mut self.heap;
            self.compilation_cache.compiled(hash, || {
                proto.expect_many_closures();
                Kept { source: heap.new_str(source), name: heap.new_str(name), proto }
            });
        }
        Ok(f)
    }
    fn compile_anew(&mut self, source: &[u8], name: &[u8], mode: Option<&[u8]>) -> Result<Gc<Func>, LoadError> {
        if source.len() > PART && self.is_interruptible() {
            let mut parts = Parts { vm: self, rest: source };
            let interrupted = || LoadError::plain(self.interrupt_waits().map_or("", Cause::message));
            let data = read(Source::in_pieces(&mut parts), name, mode).map_err(|e| e.unwrap_or_else(interrupted))?;
            return self.load_checked(&data);
        }
        // Only the reader of a text in pieces fails without a message.
        let data = read(Source::whole(source), name, mode).map_err(|e| e.unwrap_or_else(|| LoadError::plain("")))?;
        self.load_checked(&data)
    }
    fn load_checked(&mut self, data: &ProtoData) -> Result<Gc<Func>, LoadError> {
        if data.has_cdata() && self.open_ffi().is_none() {
            return Err(LoadError::plain("the chunk has 64-bit or complex literals, which need the FFI"));
        }
        Ok(self.load_data(data))
    }
    /// The same for a chunk in pieces: `next` is called for each piece when it is needed, until it returns an empty piece or none.
    ///
    /// # Errors
    /// Those of `next`.
    pub fn load_pieces(
        &mut self,
        next: &mut dyn FnMut(&mut Vm) -> LuaResult<Option<Gc<Str>>>,
        name: &[u8],
        mode: Option<&[u8]>,
    ) -> LuaResult<Result<Gc<Func>, Gc<Str>>> {
        let mut reader = Reader { vm: self, next, bytes: 0, look: 0 };
        match read(Source::in_pieces(&mut reader), name, mode) {
            Ok(data) => Ok(self.load_checked(&data).map_err(|e| self.new_str(e.message()))),
            Err(Some(e)) => Ok(Err(self.new_str(e.message()))),
            Err(None) => Err(LuaError::parked()),
        }
    }
    /// Loads a chunk that was compiled before ([`crate::syntax::compile`]).
    pub fn load_data(&mut self, data: &ProtoData) -> Gc<Func> {
        let proto = self.load_proto(data);
        let globals = self.cur.env.get();
        self.new_lua_func(proto, globals)
    }
    /// A Lua function as a binary chunk, for [`Vm::load_chunk`]; its upvalues are not part of it. Without debug information if
    /// `strip`. None for a builtin.
    pub fn dump(&self, f: Gc<Func>, strip: bool) -> Option<Vec<u8>> {
        Some(dump::write(&self.proto_data(f.proto()?), strip))
    }
    /// Builds a prototype with its children and tells the compiler of each, children first.
    fn load_proto(&mut self, data: &ProtoData) -> Gc<Proto> {
        let proto = self.new_proto(data);
        // Handlers of the event run Lua code, and with it the collector.
        self.push(Value::proto(proto));
        self.announce(proto);
        self.pop();
        proto
    }
    fn announce(&mut self, proto: Gc<Proto>) {
        let mut i = 0;
        while let Some(k) = proto.kgc(i) {
            if let Some(child) = k.as_proto() {
                self.announce(child);
            }
            i += 1;
        }
        let compiler = Rc::clone(&self.compiler);
        compiler.new_proto(self, proto);
        if let Some(observer) = &self.observer {
            observer.loaded(proto);
        }
    }
    /// Ends the state: finalizers run.
    pub fn close(&mut self) {
        if let Some(observer) = self.observer.clone() {
            observer.closing(self);
        }
        self.heap.forgive_refusals();
        self.run_all_finalizers();
    }
    /// Ends the observation of the programs, if there is any.
    pub(crate) fn end_observer(&mut self) {
        if let Some(observer) = self.observer.clone() {
            observer.end(self);
        }
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.close();
        self.end_observer();
        self.end_interrupts();
    }
}

#[cfg(test)]
mod tests {
    use crate::Vm;
    use crate::compilation_cache::{CYCLES, LONGEST};
    use crate::object::{Gc, Proto};

    fn load(vm: &mut Vm, source: &str, name: &str) -> Gc<Proto> {
        vm.load_chunk(source.as_bytes(), name.as_bytes(), None).expect("a chunk").proto().expect("a Lua function")
    }
    fn kept(vm: &Vm) -> usize {
        vm.compilation_cache.kept().count()
    }

    #[test]
    fn a_text_is_kept_from_its_second_load_on() {
        let mut vm = Vm::new();
        let first = load(&mut vm, "return 1", "a");
        assert_eq!(kept(&vm), 0);
        let second = load(&mut vm, "return 1", "a");
        assert!(first != second && kept(&vm) == 1);
        assert!(load(&mut vm, "return 1", "a") == second);
        // With another name it is another chunk.
        assert!(load(&mut vm, "return 1", "b") != second);
        let long = format!("return 1{}", " ".repeat(LONGEST));
        let before = kept(&vm);
        let long_ones: Vec<_> = (0..3).map(|_| load(&mut vm, &long, "long")).collect();
        assert!(long_ones[1] != long_ones[2] && kept(&vm) == before);
        assert!(vm.load_chunk(b"return 1", b"a", Some(b"b")).is_err(), "the mode is checked");
    }
    #[test]
    fn each_load_gives_a_function_of_its_own() {
        let mut vm = Vm::new();
        let mut load = || vm.load_chunk(b"return x", b"a", None).expect("a chunk");
        let functions: Vec<_> = (0..4).map(|_| load()).collect();
        assert!(functions[2].proto() == functions[3].proto() && functions[2] != functions[3]);
    }
    #[test]
    fn what_is_not_used_is_dropped() {
        let mut vm = Vm::new();
        (0..2).for_each(|_| _ = load(&mut vm, "return 1", "a"));
        assert_eq!(kept(&vm), 1);
        vm.full_gc();
        assert_eq!(kept(&vm), 0);
        (0..2).for_each(|_| _ = load(&mut vm, "return 1", "a"));
        (0..CYCLES).for_each(|_| vm.compilation_cache.age());
        assert_eq!(kept(&vm), 1);
        load(&mut vm, "return 1", "a");
        (0..CYCLES).for_each(|_| vm.compilation_cache.age());
        assert_eq!(kept(&vm), 1, "a use starts anew");
        vm.compilation_cache.age();
        assert_eq!(kept(&vm), 0);
    }
}
