//! Creation of functions, coroutines and userdata. No function here collects.
#![allow(unsafe_code, reason = "a new cell has the size that the object needs and is written before anybody can see it")]

use super::function::FuncBody;
use super::{Func, Gc, Kind, NativeFn, Proto, Table, Thread, ThreadStatus, Udata, UpVal};
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::error::LuaResult;
use crate::gc::Heap;
use crate::stdlib::Builtin;
use crate::value::Value;
use core::any::Any;
use core::cell::{Cell, UnsafeCell};
use core::mem::size_of;

/// The function header of a builtin that executes `op`. It is outside of the VM, so that no borrow of the VM covers it.
const fn header(op: Op) -> [Ins; 2] {
    [Ins::ad(op, 0, 0); 2]
}
static FUNCC: [Ins; 2] = header(Op::FUNCC);
/// The header of functions of the host: its operand tells it from [`FUNCC`], so that the two are never merged.
static HOST: [Ins; 2] = [Ins::ad(Op::FUNCC, 1, 0); 2];
/// The header of functions in C.
static C: [Ins; 2] = header(Op::FUNCCW);
static RESUME: [Ins; 2] = header(Op::RESUME);
static WRAP: [Ins; 2] = header(Op::WRAP);
static YIELD: [Ins; 2] = header(Op::YIELD);

impl Func {
    /// Is it a function of the host ([`Vm::new_host_function`]), in Rust or in C?
    pub fn is_of_host(&self) -> bool {
        self.pc.get() == HOST.as_ptr() || self.is_in_c()
    }
    /// Is it a function in C ([`Vm::new_c_function`])?
    #[inline]
    pub fn is_in_c(&self) -> bool {
        self.pc.get() == C.as_ptr()
    }
    /// Address of a function in C.
    #[inline]
    pub fn c_address(&self) -> Option<usize> {
        // SAFETY: checked.
        self.is_in_c().then(|| unsafe { self.hidden_address() })
    }
    /// Address of the code of a builtin or of a function in C.
    pub fn code_address(&self) -> Option<usize> {
        self.c_address().or_else(|| self.native().map(|code| code as usize))
    }
    /// Address of a function that is known to be one in C.
    ///
    /// # Safety
    /// It is one.
    #[inline(always)]
    pub(crate) unsafe fn hidden_address(&self) -> usize {
        // SAFETY: the last upvalue of a function in C is its address.
        unsafe { self.slot_ptr::<usize>(self.num_upvalues() - 1).read() }
    }
}

impl Vm {
    /// A function whose upvalues are missing.
    ///
    /// # Safety
    /// The caller fills all upvalues before anything else happens. `pc` is the header of a builtin, or that of the prototype in `body`.
    #[inline]
    unsafe fn new_func(&mut self, env: Gc<Table>, pc: *const Ins, body: FuncBody, upvalues: usize, id: u32) -> Gc<Func> {
        assert!(upvalues <= u8::MAX as usize);
        let hdr = self.heap.header(Kind::Func, upvalues as u8, 0, id);
        let f = self.heap.alloc_cell(size_of::<Func>() + upvalues * 8).cast::<Func>();
        // SAFETY: a new cell of this size.
        unsafe {
            f.write(Func { hdr, env: Cell::new(env), pc: Cell::new(pc), body });
            Gc::from_ptr(f)
        }
    }
    /// A Lua function without a parent: each upvalue is a new closed nil.
    pub fn new_lua_func(&mut self, proto: Gc<Proto>, env: Gc<Table>) -> Gc<Func> {
        let n = proto.upvalues.len();
        // SAFETY: the upvalues follow.
        let f = unsafe { self.new_func(env, proto.code_ptr(), FuncBody { proto }, n, 0) };
        for i in 0..n {
            let uv = self.new_upval_closed(Value::NIL);
            // SAFETY: slot `i` of `n` after the function.
            unsafe { f.slot_ptr::<Gc<UpVal>>(i).write(uv) };
        }
        f
    }
    /// A copy of a Lua function with its own upvalues, which have the current values; builtins are not copied.
    pub fn clone_func(&mut self, f: Gc<Func>) -> Gc<Func> {
        let Some(proto) = f.proto() else { return f };
        proto.hdr.word.set(proto.hdr.word.get().saturating_add(1));
        let copy = self.new_lua_func(proto, f.env.get());
        for (to, from) in copy.upvalues().iter().zip(f.upvalues()) {
            to.get().closed.set(from.get().get());
        }
        copy
    }
    /// A closure of `proto` made by the running function `parent` with its frame at `base`.
    ///
    /// # Safety
    /// `base` is the frame of `parent` on the running stack, and `proto` is one of its children.
    #[inline]
    pub unsafe fn new_closure(&mut self, proto: Gc<Proto>, parent: Gc<Func>, base: *mut Value) -> Gc<Func> {
        let n = proto.upvalues.len();
        proto.hdr.word.set(proto.hdr.word.get().saturating_add(1));
        // SAFETY: the upvalues follow.
        let f = unsafe { self.new_func(parent.env.get(), proto.code_ptr(), FuncBody { proto }, n, 0) };
        let cur = self.cur;
        for (i, d) in proto.upvalues.iter().enumerate() {
            let uv = if d.local {
                // SAFETY: a local variable of the running function, which closes its upvalues where the variable ends.
                let uv = unsafe { self.find_upval(cur, base.wrapping_add(d.index as usize)) };
                uv.hdr.b1.set(u8::from(d.immutable));
                uv
            } else {
                parent.upvalues()[d.index as usize].get()
            };
            // SAFETY: slot `i` of `n` after the function.
            unsafe { f.slot_ptr::<Gc<UpVal>>(i).write(uv) };
        }
        f
    }
    /// A builtin; its environment is the globals.
    pub fn new_native(&mut self, native: NativeFn, id: u32, upvalues: &[Value]) -> Gc<Func> {
        debug_assert!(id != 0, "0 is the id of Lua functions");
        let header = match Builtin::from_id(id) {
            Some(Builtin::CoroutineResume) => &RESUME,
            Some(Builtin::CoroutineWrapAux) => &WRAP,
            Some(Builtin::CoroutineYield) => &YIELD,
            Some(b) => crate::interp::fast::header(b).unwrap_or(&FUNCC),
            None => &FUNCC,
        };
        self.new_builtin(header, native, id, upvalues)
    }
    /// A function of the host, without an id: unlike other native functions without one, it is called by traces.
    pub fn new_host_function(&mut self, native: NativeFn, upvalues: &[Value]) -> Gc<Func> {
        self.new_builtin(&HOST, native, Builtin::NativeFunction.id(), upvalues)
    }
    /// A light userdata, any address. Fails if too many addresses that have not the same upper bits are in use.
    pub fn new_lightud(&mut self, address: u64) -> LuaResult<Value> {
        Value::any_lightud(address).ok_or_else(|| self.rt_error(crate::lightud::NO_PAYLOAD))
    }
    /// A function in C at an address, which `native` calls. After its upvalues, of which there are 254 at most, it has a hidden one: the
    /// address.
    pub fn new_c_function(&mut self, native: NativeFn, address: usize, upvalues: &[Value]) -> Gc<Func> {
        debug_assert!(address < 1 << 48, "an address of user code, which is a denormal number to the collector");
        let mut all = Vec::with_capacity(upvalues.len() + 1);
        all.extend_from_slice(upvalues);
        all.push(Value::link(address as u64));
        // SAFETY: the link lives as long as the heap.
        unsafe { &*self.heap.link }.has_function();
        self.new_builtin(&C, native, Builtin::NativeFunction.id(), &all)
    }
    fn new_builtin(&mut self, header: &'static [Ins; 2], native: NativeFn, id: u32, upvalues: &[Value]) -> Gc<Func> {
        let pc = header.as_ptr();
        let _ = pc.expose_provenance();
        // SAFETY: the header lives for ever.
        let f = unsafe { self.new_func(self.realm.globals, pc, FuncBody { native }, upvalues.len(), id) };
        for (i, v) in upvalues.iter().enumerate() {
            // SAFETY: slot `i` after the function.
            unsafe { f.slot_ptr::<Value>(i).write(*v) };
        }
        f
    }
    /// A userdata; its environment is the globals.
    pub fn new_udata(&mut self, data: Box<dyn Any>, meta: Option<Gc<Table>>) -> Gc<Udata> {
        let hdr = self.heap.header(Kind::Udata, 0, 0, 0);
        let u = self.heap.alloc_cell(size_of::<Udata>()).cast::<Udata>();
        // SAFETY: a new cell of this size.
        let u = unsafe {
            u.write(Udata {
                hdr,
                env: Cell::new(self.realm.globals),
                meta: Cell::new(meta),
                anchor: Cell::new(Value::NIL),
                external: Cell::new(0),
                kind: (*data).type_id(),
                data: UnsafeCell::new(Some(data)),
                block: Cell::new(core::ptr::null_mut()),
            });
            Gc::from_ptr(u)
        };
        self.heap.counts.udatas += 1;
        self.heap.note_udata(u);
        u
    }
    /// A userdata that consists of `size` bytes, all zero, for native code. Fails if there is no memory for it.
    pub fn new_block_udata(&mut self, size: u32) -> LuaResult<Gc<Udata>> {
        self.check_alloc(size as usize)?;
        let u = self.new_udata(Box::new(()), None);
        // Even an empty block has an address of its own.
        let block = self.heap.alloc_raw(Udata::block_bytes(size));
        // SAFETY: new memory of at least this size.
        unsafe { block.write_bytes(0, size as usize) };
        u.block.set(block);
        u.hdr.word.set(size);
        Ok(u)
    }
    /// A userdata whose payload belongs to the host: it is dropped outside of sweeps ([`crate::host`]).
    pub fn new_host_udata(&mut self, data: Box<dyn Any>, meta: Option<Gc<Table>>) -> Gc<Udata> {
        let u = self.new_udata(data, meta);
        u.hdr.b1.set(1);
        u
    }
    /// Tells the collector how many bytes the payload of a userdata owns.
    pub fn set_udata_bytes(&mut self, u: Gc<Udata>, bytes: usize) {
        self.heap.external_changed(&u.external, bytes);
    }
    /// Keeps a value alive as long as a userdata; it replaces the value before.
    pub fn set_udata_anchor(&mut self, u: Gc<Udata>, v: Value) {
        u.anchor.set(v);
        self.barrier_forward(u.header(), v);
    }
    /// A coroutine with a stack of `size` slots, all nil.
    #[inline]
    pub fn new_thread(&mut self, size: u32) -> Gc<Thread> {
        let co = self.heap.new_thread(self.realm.globals, size);
        for (word, inherited) in co.host.iter().zip(&self.cur.host) {
            word.set(inherited.get());
        }
        co
    }
}

impl Heap {
    /// A coroutine with a stack of `size` (not 0) slots, all nil.
    pub fn new_thread(&mut self, env: Gc<Table>, size: u32) -> Gc<Thread> {
        let hdr = self.header(Kind::Thread, 0, 0, 0);
        let stack = self.alloc_raw(size as usize * 8).cast::<Value>();
        for i in 0..size as usize {
            // SAFETY: inside the new stack.
            unsafe { stack.add(i).write(Value::NIL) };
        }
        let t = self.alloc_cell(size_of::<Thread>()).cast::<Thread>();
        // SAFETY: a new cell of this size.
        unsafe {
            t.write(Thread {
                hdr,
                stack: Cell::new(stack),
                size: Cell::new(size),
                status: Cell::new(ThreadStatus::Fresh),
                in_handler: Cell::new(false),
                handlers: Cell::new(0),
                base: Cell::new(stack),
                top: Cell::new(stack),
                open: Cell::new(core::ptr::null_mut()),
                env: Cell::new(env),
                resumer: Cell::new(None),
                pc: Cell::new(core::ptr::null()),
                native_depth: Cell::new(0),
                nesting: Cell::new(0),
                link: self.link,
                host: [const { Cell::new(core::ptr::null_mut()) }; 2],
            });
            Gc::from_ptr(t)
        }
    }
    /// Gives a coroutine's stack another size. Slots keep their distance from the start; new ones are nil; open upvalues follow.
    /// The caller adjusts other pointers into it.
    pub fn resize_stack(&mut self, t: Gc<Thread>, size: u32) {
        let (old, old_size) = (t.stack.get(), t.size.get());
        let old_addr = old as usize;
        // SAFETY: the stack has `old_size` slots; slots after them are initialised before anything reads them.
        let new = unsafe { self.realloc_raw(old.cast(), old_size as usize * 8, size as usize * 8).cast::<Value>() };
        for i in old_size as usize..size as usize {
            // SAFETY: inside the new stack.
            unsafe { new.add(i).write(Value::NIL) };
        }
        t.stack.set(new);
        t.size.set(size);
        let moved = |p: *mut Value| new.wrapping_byte_add((p as usize).wrapping_sub(old_addr));
        t.base.set(moved(t.base.get()));
        t.top.set(moved(t.top.get()));
        for uv in t.open_upvals() {
            uv.v.set(moved(uv.v.get()));
        }
    }
}
