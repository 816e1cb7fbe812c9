//! Callbacks: Lua functions that C code calls.
//!
//! The callback entries ([`crate::abi`]) belong to the process; a VM takes them one by one, and gives them back. C code that calls one comes
//! to the VM by the link of its owner, in which the VM is while C code runs. The Lua function runs on the coroutine that runs then, as one
//! that a builtin calls: it has fuel, interrupts and limits of the program, and cannot yield. An error goes to the border call that the C
//! code was called by, and there on as an error of the calling builtin.
#![allow(
    unsafe_code,
    reason = "an entry that a VM has taken leads to its link, and arguments are where the function type has them"
)]

use super::call::{bytes_mut, extend};
use super::callback_entries::{self, Callback};
use super::classify::{CallPlan, Place};
use super::convert;
use super::ctype::{CTypeId, CTypeTable, Ct, Info};
use crate::Vm;
use crate::abi::{self, Entered};
use crate::error::LuaResult;
use crate::hooks::Mode;
use crate::interp::frame::Catch;
use crate::object::{Func, Gc};
use crate::state::Activity;
use crate::value::Value;
use std::rc::Rc;

/// Arguments of a callback at most.
const MOST_ARGUMENTS: usize = 16;

/// The type of the functions that a pointer type points to, if a Lua function can be converted to it.
pub fn callable_type(types: &CTypeTable, pointer: CTypeId) -> Option<CTypeId> {
    let ct = types.raw(pointer);
    let function = types.raw_child(ct);
    if !ct.info.is_ptr() || !types.get(function).info.is_func() || types.get(function).info.has(Info::VARARG) {
        return None;
    }
    let is_scalar = |id: CTypeId| {
        let ct = types.raw(id);
        ct.info.is_enum() || ct.info.is_ptr() || ct.info.is_num() && ct.size <= 8
    };
    let result = types.raw_child(types.get(function));
    let mut parameters = types.members(function).filter(|m| types.get(*m).info.is_ct(Ct::Field));
    let fits = types.get(result).info.is_void() || is_scalar(result);
    (fits
        && parameters.by_ref().take(MOST_ARGUMENTS).all(|p| is_scalar(types.get(p).info.child()))
        && parameters.next().is_none())
    .then_some(function)
}

impl Vm {
    /// Makes a callback of a Lua function: the address of a C function of a type from [`callable_type`].
    pub(crate) fn new_callback(&mut self, function_type: CTypeId, f: Gc<Func>) -> LuaResult<usize> {
        abi::set_handler(entered);
        let plan = self.call_plan(function_type)?;
        let link = self.heap.link.cast_mut();
        let Some(ffi) = &mut self.ffi else { unreachable!("there is a plan") };
        let Some(entry) = ffi.callbacks.take(link) else { return Err(self.rt_error("too many callbacks")) };
        let function = self.host.roots.add(Value::func(f));
        if ffi.callbacks.taken.len() <= entry {
            ffi.callbacks.taken.resize_with(entry + 1, || None);
        }
        ffi.callbacks.taken[entry] = Some(Callback { function, plan });
        Ok(abi::entry_address(entry))
    }
    /// The callback of this VM at an address.
    fn callback_at(&mut self, address: usize) -> Option<usize> {
        let entry = abi::entry_at(address).filter(|e| abi::entry_address(*e) == address)?;
        self.ffi.as_ref()?.callbacks.taken.get(entry)?.is_some().then_some(entry)
    }
    /// The callback that argument 0 points to.
    fn check_callback(&mut self) -> LuaResult<usize> {
        let c = self.check_cdata(0)?;
        if self.ctypes()?.raw(c.ctype()).info.is_ptr() {
            // SAFETY: the payload of a pointer is an address.
            let address = unsafe { c.read::<usize>() };
            if let Some(entry) = self.callback_at(address) {
                return Ok(entry);
            }
        }
        Err(self.rt_error("bad callback"))
    }
    /// Runs a callback.
    fn run_c_callback(&mut self, entry: usize, entered: &mut Entered) -> LuaResult<()> {
        if self.interp.mode == Mode::Record {
            self.abort_recording();
        }
        let Some(ffi) = &mut self.ffi else { return Err(self.rt_error("bad callback")) };
        ffi.calls.called_back = true;
        let Some(Some(callback)) = ffi.callbacks.taken.get(entry) else { return Err(self.rt_error("bad callback")) };
        // It may be freed while it runs: the function stays on the stack.
        let (f, plan) = (self.host.roots.get(callback.function), Rc::clone(&callback.plan));
        self.reserve(plan.arguments.len() + 2)?;
        let bottom = self.stack_offset(self.top);
        self.push(f);
        self.push(f);
        let result = self.call_c_callback(f, &plan, entered);
        self.top = self.stack_at(bottom);
        result
    }
    fn call_c_callback(&mut self, f: Value, plan: &CallPlan, entered: &mut Entered) -> LuaResult<()> {
        for argument in &plan.arguments {
            let [piece] = argument.location.pieces() else { continue };
            let source: *mut u64 = match piece.place {
                Place::General(n) => &raw mut entered.registers.general[usize::from(n)],
                Place::Vector(n) => entered.registers.vector[usize::from(n)].as_mut_ptr(),
                // Bytes of whole words.
                Place::Stack(at) => entered.stack.wrapping_add(at as usize / 8).cast_mut(),
            };
            // SAFETY: the caller has put a value of the type there.
            let v = unsafe { self.load_c(argument, source.cast()) }?;
            self.push(v);
        }
        self.safepoint()?;
        self.call_top(plan.arguments.len(), 1, Catch::Nothing)?;
        let Some(result) = &plan.result else { return Ok(()) };
        let (v, mut word) = (self.pop(), 0);
        // SAFETY: results of callbacks have at most 8 bytes.
        unsafe {
            convert::to_c(
                self,
                result.ctype,
                bytes_mut(core::slice::from_mut(&mut word)).as_mut_ptr(),
                v,
                convert::What::Result(f),
            )?
        };
        word = extend(result.info, result.size, word);
        if result.info.is_fp() {
            entered.registers.vector[0] = [word, 0];
        } else {
            entered.registers.general[0] = word;
        }
        Ok(())
    }
}

/// What callback entries call.
///
/// # Safety
/// See [`abi::Handler`].
unsafe extern "C" fn entered(address: usize, entered: *mut Entered) -> *mut u8 {
    let entry = abi::entry_at(address).unwrap_or(0);
    let link = callback_entries::owner(entry);
    // SAFETY: an owner lives until it has given its entries back; its VM is in the link while C code may use it.
    unsafe {
        let Some(link) = link.as_ref() else { bad_callback() };
        let vm = link.current.get();
        if vm.is_null() || (*vm).is_in_compiled_code() {
            bad_callback();
        }
        link.current.set(core::ptr::null_mut());
        let result = (*vm).run_c_callback(entry, &mut *entered);
        link.current.set(vm);
        match result {
            Ok(()) => core::ptr::null_mut(),
            Err(_) if link.jump.get().is_null() => unprotected(&mut *vm),
            Err(_) => link.jump.get(),
        }
    }
}

impl Vm {
    /// Does compiled code run, and not a builtin that it has called?
    fn is_in_compiled_code(&self) -> bool {
        self.running.activity == Activity::Compiled
    }
}

/// C code has called a callback of a VM that is closed, or at a time when there is no way to the VM: in a call by compiled code, which takes the
/// function for one that does not call back.
#[cold]
fn bad_callback() -> ! {
    eprintln!("PANIC: bad callback");
    std::process::exit(libc::EXIT_FAILURE)
}

/// An error of a callback that C code has called which was not called by Lua.
#[cold]
fn unprotected(vm: &mut Vm) -> ! {
    eprintln!("PANIC: unprotected error in callback ({})", String::from_utf8_lossy(&vm.error_text()));
    std::process::exit(libc::EXIT_FAILURE)
}

/// `cb:free()`
pub fn free(vm: &mut Vm) -> LuaResult<u32> {
    let entry = vm.check_callback()?;
    let Some(ffi) = &mut vm.ffi else { return Ok(0) };
    if let Some(callback) = ffi.callbacks.taken.get_mut(entry).and_then(Option::take) {
        vm.host.roots.release(callback.function);
    }
    ffi.callbacks.give_back(entry);
    Ok(0)
}

/// `cb:set(f)`
pub fn set(vm: &mut Vm) -> LuaResult<u32> {
    let entry = vm.check_callback()?;
    let f = vm.check_func(1)?;
    let function = vm.host.roots.add(Value::func(f));
    if let Some(callback) = vm.ffi.as_mut().and_then(|ffi| ffi.callbacks.taken.get_mut(entry)?.as_mut()) {
        let old = core::mem::replace(&mut callback.function, function);
        vm.host.roots.release(old);
    }
    Ok(0)
}
