//! How a C function is called, by its type.

use super::{Convention, Host, Location, Taken, Unsupported, describe};
use crate::ffi::ctype::{CTypeId, CTypeTable, Ct, Info};

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
            let passed = describe(types, result);
            let location = convention.result(&passed)?;
            Some(Value { ctype: result, info: types.get(result).info, size: passed.size, location })
        };
        let parameters = types.members(types.raw_id(function)).map(|m| types.get(m)).filter(|m| m.info.is_ct(Ct::Field));
        let arguments = parameters.map(|p| argument(types, &mut convention, p.info.child()));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(CallPlan { result, arguments, is_variadic: ct.info.has(Info::VARARG), convention })
    }
    /// What the declared arguments have taken.
    pub fn taken(&self) -> Taken {
        self.convention.taken()
    }
    /// Begins the arguments behind the declared ones.
    pub fn variadic(&self) -> Variadic {
        Variadic(self.convention)
    }
}

/// The arguments behind the declared ones.
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
    pub fn taken(&self) -> Taken {
        self.0.taken()
    }
}

fn argument(types: &CTypeTable, convention: &mut Host, ctype: CTypeId) -> Result<Value, Unsupported> {
    let ctype = types.raw_id(ctype);
    let passed = describe(types, ctype);
    let location = convention.argument(&passed)?;
    Ok(Value { ctype, info: types.get(ctype).info, size: passed.size, location })
}
