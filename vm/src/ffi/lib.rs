//! The functions of the `ffi` library.
#![allow(unsafe_code, reason = "a payload is read with the type that the table of types has for it")]

use super::ctype::CTypeId;
use super::repr;
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Cdata, Gc, Table};
use crate::value::Value;

/// Sets the fields of the library that are no functions.
pub(super) fn add_constants(vm: &mut Vm, lib: Gc<Table>) {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    for (name, value) in [("os", "Linux"), ("arch", arch)] {
        let value = Value::str(vm.new_str(value.as_bytes()));
        vm.set_field(lib, name.as_bytes(), value);
    }
}

impl Vm {
    /// An argument that is cdata.
    pub(crate) fn check_cdata(&mut self, i: usize) -> LuaResult<Gc<Cdata>> {
        match self.arg(i).as_cdata() {
            Some(c) => Ok(c),
            None => Err(self.arg_type_error(i, "cdata")),
        }
    }
    /// The text of a cdata without its metatype.
    pub fn cdata_text(&self, c: Gc<Cdata>) -> Vec<u8> {
        let id = c.ctype();
        match id {
            // SAFETY: the payload of these types is 8 bytes.
            CTypeId::INT64 | CTypeId::UINT64 => repr::int64(unsafe { c.read::<u64>() }, id == CTypeId::UINT64).into_bytes(),
            CTypeId::COMPLEX_DOUBLE => {
                // SAFETY: the payload of this type is two doubles.
                let [re, im] = unsafe { c.read::<[f64; 2]>() };
                repr::complex(re, im)
            }
            _ => format!("cdata: 0x{:x}", c.payload() as usize).into_bytes(),
        }
    }
}

/// `tostring(cdata)`
pub fn tostring(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    let text = vm.cdata_text(c);
    vm.ret_str(&text)
}
