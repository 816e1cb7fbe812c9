//! The bodies of the helpers that belong nowhere else.
#![allow(unsafe_code, reason = "compiled code calls helpers with the running VM, live objects, and addresses inside them")]

use crate::Vm;
use crate::ffi::ctype::CTypeId;
use crate::ffi::int64;
use crate::object::{Cdata, Func, Gc, Placement, Proto, Str, Table, Thread};
use crate::stdlib::buffer::{Source, as_buffer, stay_in_place, with, with_bytes};
use crate::stdlib::short_with_case;
use crate::stdlib::strformat::{part_of, put_part};
use crate::text::number::put_num;
use crate::text::parts::{append_changed, append_in_parts, append_reversed, repeat};
use crate::text::{append, put_int};
use crate::value::Value;

/// Reborrows the VM for the duration of a helper.
///
/// # Safety
/// `vm` is the running VM, and compiled code holds no Rust reference to it while it calls a helper.
#[inline(always)]
unsafe fn state<'a>(vm: *mut Vm) -> &'a mut Vm {
    // SAFETY: the contract of this function.
    unsafe { &mut *vm }
}

macro_rules! helpers {
    ($($(#[$doc:meta])* fn $name:ident($vm:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)? $body:block)*) => {
        $($(#[$doc])*
        pub(super) unsafe extern "C" fn $name(vm: *mut Vm $(, $arg: $ty)*) $(-> $ret)? {
            // SAFETY: helpers are only called by compiled code, with the running VM (contract of `state`).
            #[allow(unused_variables, reason = "not every helper needs the VM")]
            let $vm = unsafe { state(vm) };
            $body
        })*
    };
}

/// Not among those below, which have a reference to the VM: a function in C uses the VM meanwhile.
pub(super) unsafe extern "C" fn native_call(vm: *mut Vm, frame: *mut Value, nargs: i32) -> i32 {
    // SAFETY: NATIVE has stored the frame there: the builtin, the link to a call instruction, the arguments.
    i32::from(unsafe { !crate::interp::native::call(vm, frame, nargs as usize) })
}

helpers! {
    fn tab_get_str(vm, t: Gc<Table>, k: Gc<Str>) -> *mut Value {
        t.find_str(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_get_int(vm, t: Gc<Table>, k: i32) -> *mut Value {
        t.find_int(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_get(vm, t: Gc<Table>, k: Value) -> *mut Value {
        t.find(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_new_key(vm, t: Gc<Table>, k: Value) -> *mut Value {
        vm.table_new_key(t, k)
    }
    fn tab_try_new_key(vm, t: Gc<Table>, k: Value) -> *mut Value {
        vm.try_table_new_key(t, k).unwrap_or(core::ptr::null_mut())
    }
    fn tab_len(vm, t: Gc<Table>) -> i32 {
        t.len() as i32
    }
    fn tab_len_next(vm, t: Gc<Table>) -> i32 {
        t.len_after_append() as i32
    }
    fn tab_new(vm, asize: i32, hbits: i32) -> Gc<Table> {
        vm.new_table(asize as u32, hbits as u32)
    }
    fn tab_dup(vm, t: Gc<Table>) -> Gc<Table> {
        vm.dup_table(t)
    }
    fn tab_next(vm, t: Gc<Table>, index: i32, to: *mut Value) -> i32 {
        match t.next_index(index as u32) {
            Some((i, k, v)) => {
                // SAFETY: two slots of a frame, or the scratch words.
                unsafe {
                    *to = k;
                    *to.add(1) = v;
                }
                i as i32
            }
            None => -1,
        }
    }
    fn tab_clear(vm, t: Gc<Table>) {
        t.clear();
    }
    fn tab_insert(vm, t: Gc<Table>, pos: i32, v: Value) {
        let mut i = t.len() as i32 + 1;
        while i > pos {
            let moved = t.get_int(i - 1);
            vm.table_set_int(t, i, moved);
            i -= 1;
        }
        vm.table_set_int(t, pos, v);
    }
    fn tab_remove(vm, t: Gc<Table>, pos: i32) {
        let n = t.len() as i32;
        vm.compiled.scratch[0] = t.get_int(pos).bits();
        for i in pos..n {
            let moved = t.get_int(i + 1);
            vm.table_set_int(t, i, moved);
        }
        vm.table_set_int(t, n, Value::NIL);
    }
    fn tab_set_list(vm, t: Gc<Table>, first: i32, values: *mut Value, n: i32) {
        // SAFETY: TSETM stores an open list, which is on the stack.
        unsafe { vm.table_set_list(t, first, values, n) };
    }
    fn barrier_table(vm, t: Gc<Table>, v: Value) {
        if v.is_nil() {
            vm.barrier_back(t);
        } else {
            vm.barrier_store(t, Value::NIL, v);
        }
    }
    fn barrier_upval(vm, slot: *mut Value, v: Value) {
        // SAFETY: OBAR follows a store to the value of a closed upvalue.
        unsafe { vm.barrier_upval_slot(slot, v) };
    }
    fn stack_room(vm, co: Gc<Thread>, n: i32) -> i32 {
        i32::from(vm.make_room(co, n as usize))
    }
    fn gc_step(vm) -> i32 {
        i32::from(vm.gc_step_on_trace())
    }
    fn str_new(vm, p: *mut Value, len: i32) -> Gc<Str> {
        // SAFETY: SNEW's operands are an address inside a live string and a length that stays inside it. Allocation never
        // collects, so the source stays valid.
        vm.new_str(unsafe { core::slice::from_raw_parts(p.cast::<u8>(), len as usize) })
    }
    fn str_from_int(vm, i: i32) -> Gc<Str> {
        vm.number_str(Value::int(i))
    }
    fn str_from_num(vm, n: f64) -> Gc<Str> {
        // A NaN that C code has made may have the bits of another value.
        vm.number_str(Value::num(if n.is_nan() { f64::NAN } else { n }))
    }
    fn str_from_char(vm, c: i32) -> Gc<Str> {
        vm.new_str(&[c as u8])
    }
    fn str_from_chars(vm, a: i32, b: i32, c: i32, d: i32, n: i32) -> Gc<Str> {
        let words = [a, b, c, d].map(i32::to_le_bytes);
        vm.new_str(&words.as_flattened()[..n as usize])
    }
    fn str_to_num(vm, s: Gc<Str>) -> i32 {
        match crate::meta::str_to_number(s).and_then(Value::as_number) {
            Some(n) => {
                vm.compiled.scratch[0] = n.to_bits();
                1
            }
            None => 0,
        }
    }
    fn str_cmp(vm, a: Gc<Str>, b: Gc<Str>) -> i32 {
        crate::text::compare(a.bytes(), b.bytes()) as i32
    }
    fn str_concat(vm, a: Gc<Str>, b: Gc<Str>) -> Option<Gc<Str>> {
        vm.concat_two(a, b)
    }
    fn buf_reset(vm) {
        vm.begin_text();
    }
    fn buf_put(vm, s: Gc<Str>) {
        vm.put_in_buffer(s);
    }
    fn buf_put_int(vm, i: i32) {
        if vm.has_room_in_buffer(crate::text::number::LONGEST) {
            put_int(&mut vm.strings.buffer, i);
        }
    }
    fn buf_put_num(vm, n: f64) {
        if vm.has_room_in_buffer(crate::text::number::LONGEST) {
            put_num(&mut vm.strings.buffer, n);
        }
    }
    fn buf_format_str(vm, format: Gc<Str>, part: i32, spec: i32, s: Gc<Str>) {
        put_part(vm, format, part, spec, Value::str(s));
    }
    fn buf_format_int(vm, format: Gc<Str>, part: i32, spec: i32, k: i32) {
        put_part(vm, format, part, spec, Value::int(k));
    }
    fn buf_format_num(vm, format: Gc<Str>, part: i32, spec: i32, n: f64) {
        put_part(vm, format, part, spec, Value::num(if n.is_nan() { f64::NAN } else { n }));
    }
    fn buf_str(vm) -> Option<Gc<Str>> {
        vm.str_of_buffer()
    }
    fn buffer_put(vm, buffer: Value, s: Gc<Str>, room: i32) -> i32 {
        vm.put_with_room(buffer, room, |out| s.append_to(out))
    }
    fn buffer_put_int(vm, buffer: Value, i: i32, room: i32) -> i32 {
        vm.put_with_room(buffer, room, |out| put_int(out, i))
    }
    fn buffer_put_num(vm, buffer: Value, n: f64, room: i32) -> i32 {
        vm.put_with_room(buffer, room, |out| put_num(out, n))
    }
    fn buffer_put_part(vm, buffer: Value, s: Gc<Str>, part: i32, room: i32) -> i32 {
        vm.put_with_room(buffer, room, |out| append(out, part_of(&s, part)))
    }
    fn buffer_put_buffer(vm, buffer: Value, other: Value, room: i32) -> i32 {
        if other == buffer {
            return 0;
        }
        with_bytes(other, |bytes| vm.put_with_room(buffer, room, |out| append(out, bytes))).unwrap_or(0)
    }
    fn buffer_put_bytes(vm, buffer: Value, from: *mut Value, n: i32) -> i32 {
        if !stay_in_place(buffer, from.cast(), n) {
            return 0;
        }
        vm.put_with_room(buffer, n, |out| {
            let n = n.max(0) as usize;
            debug_assert!(out.capacity() - out.len() >= n, "there is no room");
            // SAFETY: the program says that so many bytes are at the address, and there is room for them, which has been made without moving them.
            unsafe {
                core::ptr::copy(from.cast::<u8>(), out.as_mut_ptr().add(out.len()), n);
                out.set_len(out.len() + n);
            }
        })
    }
    fn buffer_start(vm, buffer: Value) -> *mut Value {
        with_bytes(buffer, |bytes| bytes.as_ptr().cast_mut().cast()).unwrap_or(core::ptr::null_mut())
    }
    fn buffer_reserve(vm, buffer: Value, n: i32) -> *mut Value {
        if !vm.make_room_in(buffer, n) {
            return core::ptr::null_mut();
        }
        as_buffer(buffer).map_or(core::ptr::null_mut(), |u| with(u, |b| b.spare().as_mut_ptr().cast()))
    }
    fn buffer_spare_len(vm, buffer: Value) -> i32 {
        as_buffer(buffer).map_or(0, |u| with(u, |b| if b.has_own_memory() { b.spare().len() as i32 } else { 0 }))
    }
    fn buffer_commit(vm, buffer: Value, n: i32) -> i32 {
        as_buffer(buffer).map_or(0, |u| i32::from(with(u, |b| b.commit(n.max(0) as usize))))
    }
    fn is_buffer(vm, v: Value) -> i32 {
        i32::from(as_buffer(v).is_some())
    }
    fn buffer_len(vm, buffer: Value) -> i32 {
        with_bytes(buffer, |bytes| bytes.len() as i32).unwrap_or(0)
    }
    fn buffer_text(vm, buffer: Value, n: i32) -> Option<Gc<Str>> {
        vm.text_in(buffer, n)
    }
    fn buffer_skip(vm, buffer: Value, n: i32) {
        if let Some(u) = as_buffer(buffer) {
            with(u, |b| b.consume(b.len().min(n.max(0) as usize)));
        }
    }
    fn buffer_reset(vm, buffer: Value) {
        if let Some(u) = as_buffer(buffer) {
            vm.buffer_reset(u);
        }
    }
    fn buffer_set(vm, buffer: Value, s: Gc<Str>) {
        if let Some(u) = as_buffer(buffer) {
            vm.buffer_set(u, Source::Str(s), Value::str(s));
        }
    }
    fn str_rep(vm, s: Gc<Str>, n: i32) -> Option<Gc<Str>> {
        let n = n.max(0) as usize;
        vm.new_long_str(s.len().saturating_mul(n), |buf, poll| {
            if n == 0 {
                return Ok(());
            }
            append_in_parts(buf, s.bytes(), poll)?;
            repeat(buf, n, poll)
        })
    }
    fn str_upper(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        match short_with_case(vm, s, b'a') {
            None => vm.new_long_str(s.len(), |buf, poll| append_changed(buf, s.bytes(), <[u8]>::make_ascii_uppercase, poll)),
            short => short,
        }
    }
    fn str_lower(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        match short_with_case(vm, s, b'A') {
            None => vm.new_long_str(s.len(), |buf, poll| append_changed(buf, s.bytes(), <[u8]>::make_ascii_lowercase, poll)),
            short => short,
        }
    }
    fn str_reverse(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        vm.new_long_str(s.len(), |buf, poll| append_reversed(buf, s.bytes(), poll))
    }
    fn str_find(vm, s: Gc<Str>, needle: Gc<Str>, from: i32) -> i32 {
        crate::text::find_plain(&s.bytes()[from as usize..], needle.bytes()).map_or(-1, |i| i as i32 + from)
    }
    fn pow(vm, a: f64, b: f64) -> f64 {
        crate::meta::lua_pow(a, b)
    }
    fn lua_mod(vm, a: f64, b: f64) -> f64 {
        crate::meta::lua_mod(a, b)
    }
    fn c_fmod(vm, a: f64, b: f64) -> f64 {
        a % b
    }
    fn log(vm, a: f64) -> f64 {
        a.ln()
    }
    fn log2(vm, a: f64) -> f64 {
        a.log2()
    }
    fn log10(vm, a: f64) -> f64 {
        a.log10()
    }
    fn exp(vm, a: f64) -> f64 {
        a.exp()
    }
    fn sin(vm, a: f64) -> f64 {
        a.sin()
    }
    fn cos(vm, a: f64) -> f64 {
        a.cos()
    }
    fn tan(vm, a: f64) -> f64 {
        a.tan()
    }
    fn asin(vm, a: f64) -> f64 {
        a.asin()
    }
    fn acos(vm, a: f64) -> f64 {
        a.acos()
    }
    fn atan(vm, a: f64) -> f64 {
        a.atan()
    }
    fn atan2(vm, a: f64, b: f64) -> f64 {
        a.atan2(b)
    }
    fn sinh(vm, a: f64) -> f64 {
        a.sinh()
    }
    fn cosh(vm, a: f64) -> f64 {
        a.cosh()
    }
    fn tanh(vm, a: f64) -> f64 {
        a.tanh()
    }
    fn ldexp(vm, a: f64, e: i32) -> f64 {
        crate::text::ldexp::ldexp(a, e)
    }
    fn frexp_mantissa(vm, x: f64) -> f64 {
        crate::stdlib::math::of::frexp(x).0
    }
    fn frexp_exponent(vm, x: f64) -> i32 {
        crate::stdlib::math::of::frexp(x).1
    }
    fn modf_fraction(vm, x: f64) -> f64 {
        crate::stdlib::math::of::fraction(x)
    }
    fn random(vm) -> f64 {
        crate::stdlib::math_random_step(vm)
    }
    fn i64_div(vm, a: i64, b: i64) -> i64 {
        int64::div(a, b)
    }
    fn i64_rem(vm, a: i64, b: i64) -> i64 {
        int64::rem(a, b)
    }
    fn i64_pow(vm, a: i64, b: i64) -> i64 {
        int64::pow(a, b)
    }
    fn u64_div(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_div(a as u64, b as u64) as i64
    }
    fn u64_rem(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_rem(a as u64, b as u64) as i64
    }
    fn u64_pow(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_pow(a as u64, b as u64) as i64
    }
    fn tobit(vm, a: f64) -> i32 {
        crate::meta::tobit(a)
    }
    fn cdata_new(vm, id: i32, size: i32) -> Gc<Cdata> {
        vm.heap.new_cdata(CTypeId(id as u32), size as u32, Placement::Small)
    }
    fn cdata_box(vm, id: i32, bits: i64) -> Gc<Cdata> {
        vm.heap.new_int64(CTypeId(id as u32), bits as u64)
    }
    fn cdata_make(vm, id: i32, size: i32) -> Option<Gc<Cdata>> {
        vm.make_cdata(CTypeId(id as u32), size as u32)
    }
    fn c_str_len(vm, at: *mut Value) -> i32 {
        // SAFETY: the program says that a string is there, which ends with a NUL.
        unsafe { libc::strlen(at.cast()) as i32 }
    }
    fn mem_copy(vm, to: *mut Value, from: *mut Value, len: i32) {
        // SAFETY: the program says that so many bytes are at both addresses.
        unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len as u32 as usize) }
    }
    fn mem_fill(vm, to: *mut Value, byte: i32, len: i32) {
        // SAFETY: the program says that there is room for so many bytes.
        unsafe { core::ptr::write_bytes(to.cast::<u8>(), byte as u8, len as u32 as usize) }
    }
    fn mem_repeat(vm, at: *mut Value, step: i32, size: i32) {
        // SAFETY: a new array has so many bytes, of which the first element is stored.
        unsafe { crate::ffi::init::fill_up(at.cast(), step as u32, step as u32, size as u32) }
    }
    fn cdata_finalizer(vm, c: Gc<Cdata>, f: Value) {
        vm.set_finalizer(c, f);
    }
    fn c_errno(vm) -> i32 {
        crate::errno::get()
    }
    fn c_set_errno(vm, number: i32) {
        crate::errno::set(number);
    }
    fn func_new(vm, proto: Gc<Proto>, parent: Gc<Func>, base: *mut Value) -> Gc<Func> {
        // SAFETY: FNEW is recorded in the frame of the parent at `base`.
        unsafe { vm.new_closure(proto, parent, base) }
    }
    fn close_upvals(vm, level: *mut Value) {
        vm.close_upvals(level);
    }
}
