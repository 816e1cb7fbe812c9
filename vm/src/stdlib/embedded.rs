//! Modules in Lua that are part of the binary: `require` finds them if no file along `package.path` has their name.
#![allow(unsafe_code, reason = "upvalue 0 of a loader of embedded modules is the address of a static")]

use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Str};
use crate::value::Value;

/// Name of the registry entry with the modules.
const EMBEDDED: &[u8] = b"_EMBEDDED";

/// A module.
#[derive(Debug)]
pub struct Module {
    /// Its name.
    pub name: &'static str,
    /// Its source text.
    pub source: &'static [u8],
    /// Makes the second argument of the chunk.
    pub extra: fn(&mut Vm) -> Value,
}

impl Vm {
    /// Makes a module available to `require`.
    pub fn embed(&mut self, module: &'static Module) {
        let modules = self.registry_table(EMBEDDED);
        let address = core::ptr::from_ref(module).expose_provenance();
        let f = self.new_native(load, 1, &[Value::lightud(address as u64)]);
        self.set_field(modules, module.name.as_bytes(), Value::func(f));
    }
    /// The loader of an embedded module, if there is one of this name.
    pub(super) fn embedded(&mut self, name: Gc<Str>) -> Option<Value> {
        let v = self.registry_table(EMBEDDED).get_str(name);
        if v.is_nil() { None } else { Some(v) }
    }
}

/// Loads the module in the upvalue; the argument is its name.
fn load(vm: &mut Vm) -> LuaResult<u32> {
    let address = vm.native_upvalue(0).payload() as usize;
    // SAFETY: `embed` put the address of a static there.
    let module = unsafe { &*core::ptr::with_exposed_provenance::<Module>(address) };
    let name = format!("={}", module.name);
    match vm.load_chunk(module.source, name.as_bytes(), None) {
        Ok(f) => {
            let extra = (module.extra)(vm);
            let v = vm.call1(Value::func(f), &[vm.arg(0), extra])?;
            vm.ret1(v)
        }
        Err(message) => Err(vm.throw(Value::str(message))),
    }
}
