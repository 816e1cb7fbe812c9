//! Calls of C functions by the interpreter.
//!
//! Where arguments go is decided once for each function type ([`CallPlan`]). A call converts each argument to its C type and puts it there,
//! calls the function over the border ([`crate::abi`]), and converts the result. While the function runs it may call back, also into other
//! functions that are called so: nothing of the VM is held by reference meanwhile.
//!
//! `errno` is that of the thread: between the function and the program's next call only code runs that leaves it alone, or puts it back.
#![allow(unsafe_code, reason = "a C function is called as its declaration says, for which the program answers")]

use super::classify::{ArgSpace, CallPlan, Location, Place, Value as Passed, Variadic};
use super::convert;
use super::ctype::{CTypeId, CTypeTable, Info, POINTER_SIZE};
use crate::Vm;
use crate::abi::{self, Call, Registers};
use crate::error::{LuaError, LuaResult};
use crate::object::{Cdata, Gc};
use crate::state::Activity;
use crate::value::Value;
use std::rc::Rc;

/// Words that an argument in registers needs at most: a homogeneous aggregate of four vectors.
const REGISTER_WORDS: usize = 8;
/// Bytes of arguments on the stack at most.
const MOST_STACK: u32 = 1 << 16;

/// The function type of a cdata that is a function, or points to one.
pub fn function_type(types: &CTypeTable, cdata: CTypeId) -> Option<CTypeId> {
    let mut id = types.raw_id(cdata);
    if types.get(id).info.is_ptr() {
        id = types.raw_child(types.get(id));
    }
    types.get(id).info.is_func().then_some(id)
}

/// The type that an argument is converted to which no parameter is declared for; for some values the word of a pointer type, which may be new.
///
/// # Errors
/// The word of the pointer type.
pub fn variadic_type(types: &CTypeTable, v: Value) -> Result<CTypeId, Info> {
    let Some(c) = v.as_cdata() else {
        return Ok(if v.is_number() {
            CTypeId::DOUBLE
        } else if v.is_str() {
            CTypeId::P_CCHAR
        } else if v.is_bool() {
            CTypeId::BOOL
        } else {
            CTypeId::P_VOID
        });
    };
    let id = c.ctype();
    let ct = types.get(id);
    if ct.info.is_plain_array() {
        Err(Info::pointer(ct.info.child(), 0))
    } else if ct.info.is_struct() || ct.info.is_func() {
        Err(Info::pointer(id, 0))
    } else if ct.info.is_fp() && ct.size == 4 {
        Ok(CTypeId::DOUBLE)
    } else {
        Ok(id)
    }
}

/// The registers and the stack of a call that is being prepared.
struct Frame {
    call: Call,
    stack: Vec<u64>,
    /// Values whose addresses are passed.
    referenced: Vec<Vec<u64>>,
}

impl Frame {
    /// Makes room for what arguments have taken of the stack.
    fn reserve(&mut self, space: ArgSpace) -> bool {
        self.stack.resize(space.stack as usize / 8, 0);
        space.stack <= MOST_STACK
    }
    /// The bytes of a place from its start on.
    fn at(&mut self, place: Place) -> &mut [u8] {
        let words = match place {
            Place::General(n) => &mut self.call.registers.general[usize::from(n)..],
            Place::Vector(n) => &mut self.call.registers.vector[usize::from(n)],
            Place::Stack(at) => &mut self.stack[at as usize / 8..],
        };
        bytes_mut(words)
    }
    /// Puts the pieces of a value in their places.
    fn scatter(&mut self, location: &Location, value: &[u8]) {
        for piece in location.pieces() {
            let (from, size) = (piece.offset as usize, piece.size as usize);
            self.at(piece.place)[..size].copy_from_slice(&value[from..from + size]);
        }
    }
}

/// The bytes of words.
pub(super) fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: words have no padding, and any bytes are words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// Extends an integer of less than 32 bits to 32, as callers and callees expect each other to.
pub(super) fn extend(info: Info, size: u32, word: u64) -> u64 {
    let signed = match size {
        1 => i32::from(word as i8),
        2 => i32::from(word as i16),
        _ => return word,
    };
    match (info.is_integer_or_bool(), info.has(Info::UNSIGNED)) {
        (false, _) => word,
        (true, true) => word & ((1 << (size * 8)) - 1),
        (true, false) => u64::from(signed as u32),
    }
}

impl Vm {
    /// Calls the C function that the first argument is or points to with the other arguments. None if it is neither.
    pub(crate) fn call_cdata(&mut self, c: Gc<Cdata>) -> LuaResult<Option<u32>> {
        let Some(function) = function_type(self.ctypes()?, c.ctype()) else { return Ok(None) };
        // SAFETY: a function, and a pointer, has an address as payload.
        let address: usize = unsafe { c.read() };
        if address == 0 {
            let text = self.ctype_text(c.ctype());
            return Err(self.rt_error_bytes(&[b"'", &text[..], b"' is not callable"].concat()));
        }
        let plan = self.call_plan(function)?;
        self.call_function(address, &plan).map(Some)
    }
    /// The plan of a function type.
    pub(crate) fn call_plan(&mut self, function: CTypeId) -> LuaResult<Rc<CallPlan>> {
        self.ctypes()?;
        let Some(ffi) = &mut self.ffi else { unreachable!("checked above") };
        let index = function.0 as usize;
        if let Some(Some(plan)) = ffi.calls.plans.get(index) {
            return Ok(Rc::clone(plan));
        }
        match CallPlan::new(&ffi.types, function) {
            Ok(plan) => {
                let plan = Rc::new(plan);
                if ffi.calls.plans.len() <= index {
                    ffi.calls.plans.resize(index + 1, None);
                }
                ffi.calls.plans[index] = Some(Rc::clone(&plan));
                Ok(plan)
            }
            Err(_) => Err(self.cannot_call()),
        }
    }
    #[cold]
    fn cannot_call(&mut self) -> LuaError {
        self.rt_error("NYI: cannot call this C function (yet)")
    }
    fn call_function(&mut self, function: usize, plan: &CallPlan) -> LuaResult<u32> {
        let given = self.nargs() - 1;
        let declared = plan.arguments.len();
        if given < declared || given > declared && !plan.is_variadic {
            return Err(self.rt_error("wrong number of arguments for function call"));
        }
        let call = Call { registers: Registers::default(), function, stack_words: 0, vectors: 0 };
        let mut frame = Frame { call, stack: Vec::new(), referenced: Vec::new() };
        // The result of a struct type is made before, in order that the function may write into it.
        let result = match &plan.result {
            Some(result) if result.info.is_struct() || result.info.is_complex() => {
                let c = self.new_cdata_of(result.ctype)?;
                self.push(Value::cdata(c));
                Some(c)
            }
            _ => None,
        };
        if !frame.reserve(plan.space()) {
            return Err(self.cannot_call());
        }
        for (i, argument) in plan.arguments.iter().enumerate() {
            self.pass(&mut frame, i + 1, argument)?;
        }
        let space =
            if given > declared { self.pass_variadic(&mut frame, declared, given, plan.variadic())? } else { plan.space() };
        if let (Some(c), Some(Passed { location, .. })) = (result, &plan.result)
            && location.by_reference
        {
            let address = c.payload().expose_provenance() as u64;
            match location.pieces() {
                [] => frame.call.registers.result = address,
                pieces => pieces.iter().for_each(|p| frame.at(p.place)[..8].copy_from_slice(&address.to_ne_bytes())),
            }
        }
        frame.call.stack_words = frame.stack.len();
        frame.call.vectors = usize::from(space.vector);
        self.cross(&mut frame)?;
        match &plan.result {
            None => Ok(0),
            Some(value) => self.take_result(&mut frame.call.registers, value, result),
        }
    }
    /// Converts argument `i` and puts it in its place.
    fn pass(&mut self, frame: &mut Frame, i: usize, argument: &Passed) -> LuaResult<()> {
        let v = self.arg(i);
        let size = argument.size as usize;
        if let [piece] = argument.location.pieces()
            && !argument.location.by_reference
            && size <= 8
        {
            // Whole words: what is after a small value is known, in case it is declared wrongly.
            let mut word = 0u64;
            self.convert_argument(argument, bytes_mut(core::slice::from_mut(&mut word)), v, i)?;
            let word = extend(argument.info, argument.size, word);
            frame.at(piece.place)[..8].copy_from_slice(&word.to_ne_bytes());
            return Ok(());
        }
        let words = size.div_ceil(8);
        if argument.location.by_reference {
            let mut value = vec![0; words];
            self.convert_argument(argument, bytes_mut(&mut value), v, i)?;
            let address = value.as_mut_ptr().expose_provenance() as u64;
            frame.referenced.push(value);
            frame.scatter(&argument.location, &address.to_ne_bytes());
        } else if words <= REGISTER_WORDS {
            let mut value = [0; REGISTER_WORDS];
            self.convert_argument(argument, bytes_mut(&mut value), v, i)?;
            frame.scatter(&argument.location, bytes_mut(&mut value));
        } else {
            let mut value = vec![0; words];
            self.convert_argument(argument, bytes_mut(&mut value), v, i)?;
            frame.scatter(&argument.location, bytes_mut(&mut value));
        }
        Ok(())
    }
    fn convert_argument(&mut self, argument: &Passed, to: &mut [u8], v: Value, i: usize) -> LuaResult<()> {
        debug_assert!(to.len() >= argument.size as usize);
        if let (Some(scalar), Some(n)) = (argument.scalar, convert::number(v)) {
            // SAFETY: there is room for a value of the type.
            unsafe { scalar.write(to.as_mut_ptr(), n) };
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { convert::to_c(self, argument.ctype, to.as_mut_ptr(), v, convert::What::Argument(i - 1)) }
    }
    /// Passes the arguments after the declared ones; returns what all of them take.
    #[cold]
    #[inline(never)]
    fn pass_variadic(&mut self, frame: &mut Frame, declared: usize, given: usize, mut rest: Variadic) -> LuaResult<ArgSpace> {
        for i in declared + 1..=given {
            let v = self.arg(i);
            let types = self.ctypes()?;
            let id = variadic_type(types, v).or_else(|pointer| types.intern(pointer, POINTER_SIZE));
            let Ok(id) = id else { return Err(self.table_full()) };
            let next = rest.next(self.ctypes()?, id);
            match next {
                Ok(argument) if frame.reserve(rest.space()) => self.pass(frame, i, &argument)?,
                _ => return Err(self.cannot_call()),
            }
        }
        Ok(rest.space())
    }
    /// Calls the function. An error of a callback ends here.
    fn cross(&mut self, frame: &mut Frame) -> LuaResult<()> {
        let function = frame.call.function;
        let outer = self.begin_call();
        let before = self.begin_activity(Activity::Builtin);
        let link = self.heap.link;
        let vm: *mut Vm = self;
        // SAFETY: the link lives as long as the VM. The arguments are those of the declaration. While the function runs the VM is only used
        // through the pointer in the link.
        let outcome = unsafe {
            let outer = (*link).current.replace(vm);
            let outcome = abi::call_any(&raw mut frame.call, frame.stack.as_ptr(), (*link).jump.as_ptr());
            (*link).current.set(outer);
            outcome
        };
        self.begin_activity(before);
        self.end_call(function, outer);
        self.outcome(outcome).map(|_| ())
    }
    /// Begins to watch whether a function calls back; what was known of the outer one.
    fn begin_call(&mut self) -> bool {
        self.ffi.as_mut().is_some_and(|ffi| core::mem::replace(&mut ffi.calls.called_back, false))
    }
    fn end_call(&mut self, function: usize, outer: bool) {
        let Some(ffi) = &mut self.ffi else { return };
        if core::mem::replace(&mut ffi.calls.called_back, outer) {
            ffi.calls.call_back.insert(function);
        }
    }
    /// The value of Lua for an argument or a result.
    ///
    /// # Safety
    /// There is a value of its type at the address.
    pub(super) unsafe fn load_c(&mut self, value: &Passed, from: *mut u8) -> LuaResult<Value> {
        let (follow, load) = value.load;
        // SAFETY: by the contract; the value of a reference is an address.
        let from = if follow { convert::pointer(unsafe { from.cast::<u64>().read_unaligned() }) } else { from };
        // SAFETY: by the contract.
        unsafe { self.load_value(load, from) }
    }
    /// Pushes the result of a call.
    fn take_result(&mut self, registers: &mut Registers, value: &Passed, made: Option<Gc<Cdata>>) -> LuaResult<u32> {
        let mut words = [0; REGISTER_WORDS];
        let buffer = bytes_mut(&mut words);
        if !value.location.by_reference {
            for piece in value.location.pieces() {
                let source = match piece.place {
                    Place::General(n) => bytes_mut(core::slice::from_mut(&mut registers.general[usize::from(n)])),
                    Place::Vector(n) => bytes_mut(&mut registers.vector[usize::from(n)]),
                    Place::Stack(_) => continue,
                };
                let (at, size) = (piece.offset as usize, piece.size as usize);
                buffer[at..at + size].copy_from_slice(&source[..size]);
            }
        }
        match made {
            // It is on top of the stack.
            Some(c) => {
                if !value.location.by_reference {
                    // SAFETY: the payload of the cdata has the size of its type.
                    unsafe { c.payload().copy_from_nonoverlapping(buffer.as_ptr(), value.size as usize) };
                }
                Ok(1)
            }
            None => {
                // SAFETY: a value of the type is in the buffer.
                let v = unsafe { self.load_c(value, buffer.as_mut_ptr()) }?;
                self.ret1(v)
            }
        }
    }
}
