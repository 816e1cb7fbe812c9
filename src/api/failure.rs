//! Errors and panics of Rust code as Lua error values: a userdata on its way from the function that failed to who catches it.

use super::error::Error;
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::object::{Gc, Table, Udata};
use perilune_vm::value::Value as Raw;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// What an error value of Rust holds.
pub enum Failure {
    /// An error.
    Error(Error),
    /// A panic; `None` once it was resumed.
    Panic(Option<Box<dyn Any + Send>>),
}

/// The metatable of error values of Rust.
pub fn metatable(vm: &mut Vm) -> Gc<Table> {
    let meta = vm.new_table(0, 1);
    let tostring = vm.new_native(tostring, 1, &[]);
    vm.set_field(meta, b"__tostring", Raw::func(tostring));
    meta
}

/// An error value.
pub fn new(vm: &mut Vm, meta: Raw, failure: Failure) -> Raw {
    let owned = match &failure {
        Failure::Error(e) => e.owned_bytes(),
        Failure::Panic(_) => 0,
    };
    let u = vm.new_host_udata(Box::new(failure), meta.as_table());
    vm.set_udata_bytes(u, size_of::<Failure>() + owned);
    Raw::udata(u)
}

/// The error that a userdata holds; `None` if it is another userdata.
///
/// # Panics
/// It holds a panic, which is resumed, once.
pub fn take(u: Gc<Udata>) -> Option<Error> {
    let found = u.with(|f: &mut Failure| match f {
        Failure::Error(e) => Ok(e.clone()),
        Failure::Panic(panic) => Err(panic.take()),
    })?;
    match found {
        Ok(e) => Some(e),
        Err(Some(panic)) => resume_unwind(panic),
        Err(None) => Some(Error::PreviouslyResumedPanic),
    }
}

/// The error that a userdata holds, if it is an error value: `Some(None)` for a panic that was resumed.
///
/// # Panics
/// It holds a panic, which is resumed, once.
pub fn error_in(u: Gc<Udata>) -> Option<Option<Error>> {
    match take(u)? {
        Error::PreviouslyResumedPanic => Some(None),
        e => Some(Some(e)),
    }
}

/// The text of an error. `Display` is code of the host: it may use the state, and panic.
fn error_text(vm: &mut Vm, e: &Error) -> String {
    let mut text = None;
    let mut code = || text = catch_unwind(AssertUnwindSafe(|| e.to_string())).ok();
    match vm.host.host.clone() {
        Some(host) => host.outside(vm, &mut code),
        None => code(),
    }
    text.unwrap_or_else(|| "(the text of the error cannot be made)".to_owned())
}

/// Does a userdata hold a panic that was not resumed yet?
pub fn is_panic(u: Gc<Udata>) -> bool {
    u.with(|f: &mut Failure| matches!(f, Failure::Panic(Some(_)))).unwrap_or(false)
}

/// The text of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "<panic>",
    }
}

fn tostring(vm: &mut Vm) -> LuaResult<u32> {
    let found = vm.arg(0).as_udata().and_then(|u| {
        u.with(|f: &mut Failure| match f {
            Failure::Error(e) => Ok(e.clone()),
            Failure::Panic(Some(panic)) => Err(panic_text(&**panic).to_owned()),
            Failure::Panic(None) => Ok(Error::PreviouslyResumedPanic),
        })
    });
    let text = match found {
        Some(Ok(Error::PreviouslyResumedPanic)) => {
            let cur = vm.cur;
            let traceback = String::from_utf8_lossy(&perilune_vm::stdlib::host_traceback(vm, cur)).into_owned();
            let e = Error::CallbackError { traceback, cause: Arc::new(Error::PreviouslyResumedPanic) };
            let meta = vm.arg(0).as_udata().and_then(|u| u.meta.get()).map_or(Raw::NIL, Raw::table);
            let e = new(vm, meta, Failure::Error(e));
            return Err(vm.throw(e));
        }
        Some(Ok(e)) => error_text(vm, &e),
        Some(Err(text)) => text,
        None => Error::UserDataTypeMismatch.to_string(),
    };
    let s = vm.new_str(text.as_bytes());
    vm.ret1(Raw::str(s))
}
