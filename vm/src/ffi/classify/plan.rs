//! How a C function is called, by its type.

use super::{ArgSpace, Convention, Host, Location, Passed, Unsupported};
use crate::ffi::conversion::{scalar, value_type};
use crate::ffi::ctype::{CTypeId, CTypeTable, Ct, Info, NO_SIZE};
use crate::ffi::load::{Load, load};
use crate::ffi::scalar::Scalar;

/// An argument or a result.
#[derive(Copy, Clone, Debug)]
pub struct Value {
    /// Its type, without attributes. That of a function or an array stays what it is, though a pointer is passed.
    pub ctype: CTypeId,
    /// Its word.
    pub info: Info,
    /// Bytes that are passed.
    pub size: u32,
    /// Where it is.
    pub location: Location,
    /// How it is in memory, if it is a number or an enumeration: numbers of Lua are written so.
    pub scalar: Option<Scalar>,
    /// How its value of Lua is made.
    pub load: (bool, Load),
}

impl Value {
    fn new(types: &CTypeTable, ctype: CTypeId, size: u32, location: Location) -> Value {
        let info = types.get(ctype).info;
        let scalar = if info.is_num() || info.is_enum() { scalar(types.get(value_type(types, ctype))) } else { None };
        Value { ctype, info, size, location, scalar, load: load(types, ctype) }
    }
}

/// How a C function is called.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// The result; none of `void`.
    pub result: Option<Value>,
    /// The arguments that are declared.
    pub arguments: Box<[Value]>,
    /// Are there further arguments?
    pub is_variadic: bool,
    /// What the declared arguments have taken.
    convention: Host,
}

impl CallPlan {
    /// The plan of a function type.
    ///
    /// # Errors
    /// An argument or the result cannot be passed.
    pub fn new(types: &CTypeTable, function: CTypeId) -> Result<CallPlan, Unsupported> {
        let ct = types.get(types.raw_id(function));
        let mut convention = Host::default();
        let result = types.raw_child(ct);
        let result = if types.get(result).info.is_void() {
            None
        } else {
            let passed = describe(types, result)?;
            let location = convention.result(&passed)?;
            Some(Value::new(types, result, passed.size, location))
        };
        let parameters = types.members(types.raw_id(function)).map(|m| types.get(m)).filter(|m| m.info.is_ct(Ct::Field));
        let arguments = parameters.map(|p| argument(types, &mut convention, p.info.child()));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(CallPlan { result, arguments, is_variadic: ct.info.has(Info::VARARG), convention })
    }
    /// What the declared arguments have taken.
    pub fn space(&self) -> ArgSpace {
        self.convention.space()
    }
    /// Begins the arguments after the declared ones.
    pub fn variadic(&self) -> Variadic {
        Variadic(self.convention)
    }
}

/// The arguments after the declared ones.
#[derive(Copy, Clone, Debug)]
pub struct Variadic(Host);

impl Variadic {
    /// The next argument, of this type.
    ///
    /// # Errors
    /// It cannot be passed.
    pub fn next(&mut self, types: &CTypeTable, ctype: CTypeId) -> Result<Value, Unsupported> {
        argument(types, &mut self.0, ctype)
    }
    /// What all arguments so far have taken.
    pub fn space(&self) -> ArgSpace {
        self.0.space()
    }
}

/// How a value is passed. A struct that is not defined yet is not.
fn describe(types: &CTypeTable, ctype: CTypeId) -> Result<Passed, Unsupported> {
    let passed = super::describe(types, ctype);
    if passed.size == NO_SIZE { Err(Unsupported) } else { Ok(passed) }
}

fn argument(types: &CTypeTable, convention: &mut Host, ctype: CTypeId) -> Result<Value, Unsupported> {
    let ctype = types.raw_id(ctype);
    let passed = describe(types, ctype)?;
    let location = convention.argument(&passed)?;
    Ok(Value::new(types, ctype, passed.size, location))
}
