//! Arguments of builtins: checks and conversions, with LuaJIT's error messages. Arguments are counted from 0.

use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::object::{Func, Gc, Str, Table};
use crate::text::number::to_i32;
use crate::value::Value;

impl Vm {
    /// Upvalue of the running builtin.
    #[inline(always)]
    pub(crate) fn native_upvalue(&self, i: usize) -> Value {
        self.callee().native_upvalues()[i].get()
    }
    /// Drops or adds (nil) values so that there are `n` arguments.
    pub fn set_nargs(&mut self, n: usize) {
        while self.nargs() > n {
            self.pop();
        }
        while self.nargs() < n {
            self.push(Value::NIL);
        }
    }
    /// Adds nils so that there are at least `n` arguments: for functions to which a missing argument means nil.
    #[inline]
    pub(crate) fn pad_args(&mut self, n: usize) {
        if self.nargs() < n {
            self.set_nargs(n);
        }
    }

    /// An error with a plain text, without a position.
    #[cold]
    pub fn plain_error(&mut self, message: &[u8]) -> LuaError {
        let s = self.new_str(message);
        self.throw(Value::str(s))
    }
    /// "`expected` expected, got ..." for an argument.
    #[cold]
    pub fn arg_type_error(&mut self, i: usize, expected: &str) -> LuaError {
        let got = if i < self.nargs() { self.arg(i).type_name() } else { "no value" };
        self.arg_error(i, &format!("{expected} expected, got {got}"))
    }

    /// Any value, but there must be one.
    #[inline]
    pub fn check_any(&mut self, i: usize) -> LuaResult<Value> {
        if i < self.nargs() { Ok(self.arg(i)) } else { Err(self.arg_error(i, "value expected")) }
    }
    /// A number of either form; strings are converted.
    #[inline]
    pub fn check_number(&mut self, i: usize) -> LuaResult<Value> {
        let v = self.arg(i);
        if v.is_number() { Ok(v) } else { self.convert_number(i) }
    }
    #[cold]
    fn convert_number(&mut self, i: usize) -> LuaResult<Value> {
        match self.arg(i).as_str().and_then(crate::meta::str_to_number) {
            Some(n) => Ok(n),
            None => Err(self.arg_type_error(i, "number")),
        }
    }
    /// A number as a double.
    #[inline]
    pub fn check_num(&mut self, i: usize) -> LuaResult<f64> {
        let v = self.check_number(i)?;
        Ok(if v.is_int() { f64::from(v.as_int_unchecked()) } else { v.as_num_unchecked() })
    }
    /// A number truncated to an integer.
    #[inline]
    pub fn check_int(&mut self, i: usize) -> LuaResult<i32> {
        let v = self.check_number(i)?;
        Ok(if v.is_int() { v.as_int_unchecked() } else { to_i32(v.as_num_unchecked()) })
    }
    /// An integer; `default` for nil or no value.
    #[inline]
    pub fn opt_int(&mut self, i: usize, default: i32) -> LuaResult<i32> {
        if self.arg(i).is_nil() { Ok(default) } else { self.check_int(i) }
    }
    /// A string; numbers are converted, in the argument as well.
    #[inline]
    pub fn check_str(&mut self, i: usize) -> LuaResult<Gc<Str>> {
        match self.arg(i).as_str() {
            Some(s) => Ok(s),
            None => self.convert_str(i),
        }
    }
    #[cold]
    fn convert_str(&mut self, i: usize) -> LuaResult<Gc<Str>> {
        let v = self.arg(i);
        if !v.is_number() {
            return Err(self.arg_type_error(i, "string"));
        }
        let s = self.number_str(v);
        self.set_arg(i, Value::str(s));
        Ok(s)
    }
    /// A string, or nothing for nil or no value.
    #[inline]
    pub fn opt_str(&mut self, i: usize) -> LuaResult<Option<Gc<Str>>> {
        if self.arg(i).is_nil() { Ok(None) } else { self.check_str(i).map(Some) }
    }
    /// A table.
    #[inline]
    pub fn check_table(&mut self, i: usize) -> LuaResult<Gc<Table>> {
        match self.arg(i).as_table() {
            Some(t) => Ok(t),
            None => Err(self.arg_type_error(i, "table")),
        }
    }
    /// A table or nil; the argument must be present.
    pub fn check_table_or_nil(&mut self, i: usize) -> LuaResult<Option<Gc<Table>>> {
        let v = self.arg(i);
        match v.as_table() {
            Some(t) => Ok(Some(t)),
            None if v.is_nil() && i < self.nargs() => Ok(None),
            None => Err(self.arg_error(i, "nil or table expected")),
        }
    }
    /// A function.
    #[inline]
    pub fn check_func(&mut self, i: usize) -> LuaResult<Gc<Func>> {
        match self.arg(i).as_func() {
            Some(f) => Ok(f),
            None => Err(self.arg_type_error(i, "function")),
        }
    }
    /// One of a list of words, as its index. Without a default the argument must be there.
    pub fn check_option(&mut self, i: usize, default: Option<usize>, words: &[&str]) -> LuaResult<usize> {
        if let Some(d) = default
            && self.arg(i).is_nil()
        {
            return Ok(d);
        }
        let s = self.check_str(i)?;
        match words.iter().position(|w| w.as_bytes() == s.bytes()) {
            Some(found) => Ok(found),
            None => Err(self.arg_error(i, &format!("invalid option '{}'", s.to_str_lossy()))),
        }
    }
    /// Returns a string as the one result.
    #[inline]
    pub fn ret_str(&mut self, bytes: &[u8]) -> LuaResult<u32> {
        let s = self.checked_str(bytes)?;
        self.ret1(Value::str(s))
    }
}
