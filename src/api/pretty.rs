//! Values for debugging: `{:?}` is one line with the variant, `{:#?}` shows the content of tables. Where the state is closed, both say so.

use super::handle::{CLOSED_STATE, Handle};
use super::table::Table;
use super::value::{Value, number_text};
use perilune_vm::interp::native_stack;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::c_void;
use std::fmt;

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return pretty(f, self.type_name(), self.handle(), |w| w.value(self));
        }
        match self {
            Value::Nil => f.write_str("Nil"),
            Value::Boolean(b) => write!(f, "Boolean({b})"),
            Value::LightUserData(p) => write!(f, "{p:?}"),
            Value::Integer(i) => write!(f, "Integer({i})"),
            Value::Number(n) => write!(f, "Number({n})"),
            Value::String(s) => write!(f, "String({s:?})"),
            Value::Table(t) => write!(f, "{t:?}"),
            Value::Function(v) => write!(f, "{v:?}"),
            Value::Thread(t) => write!(f, "{t:?}"),
            Value::UserData(u) => write!(f, "{u:?}"),
            Value::Error(e) => write!(f, "Error({e:?})"),
            Value::Other(o) => write!(f, "{o:?}"),
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return pretty(f, "table", Some(&self.0), |w| w.table(self));
        }
        write!(f, "Table({:?})", self.0)
    }
}

/// Writes a value with its content. Its state, if it has one, stays open meanwhile.
fn pretty(
    f: &mut fmt::Formatter<'_>,
    type_name: &str,
    handle: Option<&Handle>,
    write: impl FnOnce(&mut Writer<'_, '_>) -> fmt::Result,
) -> fmt::Result {
    let state = handle.map(Handle::try_lua);
    if let Some(None) = state {
        return write!(f, "{type_name}: {CLOSED_STATE}");
    }
    write(&mut Writer { f, shown: HashSet::new(), indent: 0 })
}

/// Writes nested tables, each once.
struct Writer<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    shown: HashSet<*const c_void>,
    indent: usize,
}

impl Writer<'_, '_> {
    fn value(&mut self, v: &Value) -> fmt::Result {
        match v {
            // Tables may be nested deeper than the native stack reaches.
            Value::Table(t) if !self.shown.contains(&t.to_pointer()) && !native_stack::is_used_up() => self.table(t),
            Value::UserData(u) => write!(self.f, "{u:#?}"),
            Value::Error(e) => write!(self.f, "{e:?}"),
            v => self.flat(v),
        }
    }
    /// A value without its content.
    fn flat(&mut self, v: &Value) -> fmt::Result {
        match v {
            Value::Nil => self.f.write_str("nil"),
            Value::Boolean(b) => write!(self.f, "{b}"),
            Value::LightUserData(p) if p.0.is_null() => self.f.write_str("null"),
            Value::Integer(i) => write!(self.f, "{i}"),
            Value::Number(n) => self.f.write_str(&number_text(*n)),
            Value::String(s) => write!(self.f, "{s:?}"),
            Value::Error(_) => self.f.write_str("error"),
            v => write!(self.f, "{}: {:?}", v.what(), v.to_pointer()),
        }
    }
    fn table(&mut self, t: &Table) -> fmt::Result {
        self.shown.insert(t.to_pointer());
        let mut pairs: Vec<(Value, Value)> = t.pairs().flatten().collect();
        if pairs.is_empty() {
            return self.f.write_str("{}");
        }
        pairs.sort_by(|a, b| order(&a.0, &b.0));
        let is_sequence = pairs.iter().zip(1..).all(|((k, _), i)| k.as_integer() == Some(i));
        self.f.write_str("{\n")?;
        self.indent += 2;
        for (k, v) in &pairs {
            self.pad()?;
            match k {
                _ if is_sequence => {}
                Value::String(s) if is_name(&s.as_bytes()) => write!(self.f, "{} = ", s.display())?,
                k => {
                    self.f.write_str("[")?;
                    self.flat(k)?;
                    self.f.write_str("] = ")?;
                }
            }
            self.value(v)?;
            self.f.write_str(",\n")?;
        }
        self.indent -= 2;
        self.pad()?;
        self.f.write_str("}")
    }
    fn pad(&mut self) -> fmt::Result {
        write!(self.f, "{:1$}", "", self.indent)
    }
}

/// Can a key be written without brackets?
fn is_name(key: &[u8]) -> bool {
    let starts = key.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_');
    starts && key.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_')
}

/// The order in which keys are shown: booleans, numbers, strings, other objects by their address.
fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Nil => 0,
        Value::LightUserData(p) if p.0.is_null() => 1,
        Value::Boolean(_) => 2,
        Value::Integer(_) | Value::Number(_) => 3,
        Value::String(_) => 4,
        _ => 5,
    };
    let number = |v: &Value| v.as_number().or(v.as_integer().map(|i| i as f64));
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.to_pointer().cmp(&b.to_pointer()),
        },
    })
}
