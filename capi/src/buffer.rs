//! Buffers: strings are collected in a buffer of C, and in strings on the stack when that is full.
//!
//! The strings on the stack become shorter from one to the next, so that there are few of them and each byte is copied few times: a new one
//! is joined with those below that are not longer.
#![allow(unsafe_code, reason = "the buffer is one of C that was initialised")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::abi::Outcome;
use crate::index;
use crate::push::bytes;
use crate::stack::pop;
use crate::state::{L, enter};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;

/// Bytes of a buffer: `BUFSIZ` of the C library, as `luaconf.h` has it.
const SIZE: usize = 8192;

/// So many bytes are copied without a call.
const FEW: usize = 16;

/// `luaL_Buffer`. The first word is the end of the bytes in use.
#[repr(C)]
pub struct Buffer {
    end: *mut c_char,
    /// Strings on the stack.
    strings: c_int,
    l: L,
    bytes: [MaybeUninit<u8>; SIZE],
}

impl Buffer {
    fn start(&mut self) -> *mut c_char {
        self.bytes.as_mut_ptr().cast()
    }
    fn used(&self) -> usize {
        self.end.addr() - self.bytes.as_ptr().addr()
    }
    /// How many bytes fit after those in use.
    fn free(&self) -> usize {
        self.bytes.as_ptr_range().end.addr().saturating_sub(self.end.addr())
    }
    /// The bytes in use.
    fn written(&self) -> &[u8] {
        // SAFETY: C code has written the bytes up to the end that it set, which is inside of the buffer.
        unsafe { self.bytes[..self.used()].assume_init_ref() }
    }
    /// The bytes in use, which are removed.
    fn take(&mut self) -> Vec<u8> {
        let s = self.written().to_vec();
        self.end = self.start();
        s
    }
    /// Pushes a string, joined with those below it that are not longer.
    fn push(&mut self, vm: &mut Vm, s: Vec<u8>) -> LuaResult<()> {
        let len = |vm: &Vm, n: c_int| index::value(vm, -n).as_str().map_or(usize::MAX, |s| s.len());
        let (mut n, mut total) = (0, s.len());
        while n < self.strings && len(vm, n + 1) <= total {
            n += 1;
            total += len(vm, n);
        }
        self.join(vm, n, &s)
    }
    /// Replaces the topmost `n` strings by one of them and `s`.
    fn join(&mut self, vm: &mut Vm, n: c_int, s: &[u8]) -> LuaResult<()> {
        let mut all = Vec::new();
        for v in &vm.args()[vm.nargs() - n as usize..] {
            all.extend_from_slice(v.as_str().as_ref().map_or(&[], |s| s.bytes()));
        }
        all.extend_from_slice(s);
        let new = vm.checked_str(&all)?;
        pop(vm, n as usize);
        crate::push::value(vm, Value::str(new));
        crate::memory::collect(vm);
        self.strings += 1 - n;
        Ok(())
    }
    /// Makes one string of all, on top of the stack.
    fn push_all(&mut self, vm: &mut Vm) -> LuaResult<()> {
        if self.strings == 0 {
            // All is in the buffer of C.
            crate::push::string(vm, self.written())?;
            self.end = self.start();
            self.strings = 1;
            return Ok(());
        }
        let s = self.take();
        self.join(vm, self.strings, &s)
    }
    /// Moves the bytes in use to the stack.
    fn flush(&mut self, vm: &mut Vm) -> LuaResult<()> {
        let s = self.take();
        if s.is_empty() { Ok(()) } else { self.push(vm, s) }
    }
    /// Adds bytes. Those that fit need no VM, which takes longer to reach than a few bytes take to copy.
    #[inline]
    fn add(&mut self, s: &[u8]) -> LuaResult<()> {
        if s.len() > self.free().min(FEW) {
            return self.add_many(s);
        }
        // SAFETY: so many bytes are free from the end on, which C code keeps inside of the buffer.
        unsafe { copy_few(self.end.cast(), s) };
        self.end = self.end.wrapping_add(s.len());
        Ok(())
    }
    /// Adds many bytes, or some that do not fit.
    #[inline(never)]
    fn add_many(&mut self, s: &[u8]) -> LuaResult<()> {
        if s.len() <= self.free() {
            // SAFETY: as in `add`.
            unsafe { self.end.cast::<u8>().copy_from_nonoverlapping(s.as_ptr(), s.len()) };
            self.end = self.end.wrapping_add(s.len());
            return Ok(());
        }
        let mut all = self.take();
        all.extend_from_slice(s);
        self.inside(|buffer, vm| buffer.push(vm, all))
    }
    /// Calls `f` with the VM of the buffer's coroutine.
    #[inline(always)]
    fn inside<T>(&mut self, f: impl FnOnce(&mut Self, &mut Vm) -> T) -> T {
        // SAFETY: the coroutine that `luaL_buffinit` was given; C code calls, so that no reference to the VM is in use.
        unsafe { enter(self.l, move |vm| f(self, vm)) }
    }
    /// Adds the topmost value.
    fn add_value(&mut self) -> LuaResult<()> {
        let top = self.inside(|_, vm| {
            let s = crate::access::string_at(vm, -1)?;
            pop(vm, 1);
            Some(s)
        });
        // It stays alive: nothing is collected before it is copied.
        top.map_or(Ok(()), |s| self.add(s.bytes()))
    }
}

/// Copies few bytes, at most [`FEW`], without a call: the first and the last, which may overlap.
///
/// # Safety
/// So many bytes can be written at `to`, which are not among those of `s`.
#[inline(always)]
unsafe fn copy_few(to: *mut u8, s: &[u8]) {
    // SAFETY: what is written begins at `to`, or ends where the bytes of `s` end there.
    unsafe {
        if s.len() >= 8 {
            copy_ends::<8>(to, s);
        } else if s.len() >= 4 {
            copy_ends::<4>(to, s);
        } else if !s.is_empty() {
            // Byte by byte, as C code has often just written them: a wider load would wait for all of its bytes.
            for i in [0, s.len() / 2, s.len() - 1] {
                to.add(i).write(s[i]);
            }
        }
    }
}

/// Copies the first and the last `N` bytes.
///
/// # Safety
/// As for [`copy_few`]; there are at least so many bytes.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(to: *mut u8, s: &[u8]) {
    let (Some(first), Some(last)) = (s.first_chunk::<N>(), s.last_chunk::<N>()) else { return };
    // SAFETY: the caller's promise; arrays of bytes have no alignment.
    unsafe {
        to.cast::<[u8; N]>().write(*first);
        to.add(s.len() - N).cast::<[u8; N]>().write(*last);
    }
}

/// Functions that take a buffer instead of a coroutine: the stub gets the coroutine by the buffer's Rust part, which jumps if it must.
macro_rules! on_buffer {
    ($($(#[$doc:meta])* fn $name:ident($b:ident $(, $arg:ident: $ty:ty)* $(,)?) -> $ret:ty $body:block)*) => {$(
        mod $name {
            use super::*;
            /// The Rust part.
            ///
            /// # Safety
            /// The contract of the crate.
            pub unsafe extern "C" fn inner(buffer: *mut Buffer $(, $arg: $ty)*) -> Outcome {
                let $b = &mut *buffer;
                let mut body = move || -> LuaResult<$ret> { $body };
                crate::abi::outcome(body())
            }
        }
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        // SAFETY: the body follows the calling convention of C.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(buffer: *mut Buffer $(, $arg: $ty)*) -> $ret {
            $crate::abi::buffer_stub!($name::inner)
        }
    )*};
}

on_buffer! {
    /// `luaL_prepbuffer`
    fn luaL_prepbuffer(b) -> *mut c_char {
        b.inside(Buffer::flush)?;
        Ok(b.start())
    }
    /// `luaL_addlstring`
    fn luaL_addlstring(b, s: *const c_char, len: usize) -> () { b.add(bytes(s, len)) }
    /// `luaL_addstring`
    fn luaL_addstring(b, s: *const c_char) -> () { b.add(crate::push::text(s)) }
    /// `luaL_addvalue`
    fn luaL_addvalue(b) -> () { b.add_value() }
    /// `luaL_pushresult`
    fn luaL_pushresult(b) -> () { b.inside(Buffer::push_all) }
}

/// `luaL_buffinit`
///
/// # Safety
/// The contract of the crate.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn luaL_buffinit(l: L, buffer: *mut Buffer) {
    (&raw mut (*buffer).end).write((&raw mut (*buffer).bytes).cast());
    (&raw mut (*buffer).strings).write(0);
    (&raw mut (*buffer).l).write(l);
}
