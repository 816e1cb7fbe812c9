//! Completion of names: globals, reserved words, and the fields of tables, as they are now.

use super::pretty::is_name;
use perilune_vm::Vm;
use perilune_vm::object::{Gc, Table};
use perilune_vm::syntax::lex::KEYWORDS;
use perilune_vm::value::Value;

/// Tables that `__index` may lead through.
const CHAIN: usize = 8;

/// Where the name that ends at `pos` begins, and what it may become.
pub fn complete(vm: &Vm, line: &str, pos: usize) -> (usize, Vec<String>) {
    let before = &line.as_bytes()[..pos.min(line.len())];
    let start = before.iter().rposition(|b| !(b.is_ascii_alphanumeric() || b"_.:".contains(b))).map_or(0, |i| i + 1);
    let path = &before[start..];
    let cut = path.iter().rposition(|b| b".:".contains(b));
    let (owner, prefix) = cut.map_or((&path[..0], path), |i| (&path[..i], &path[i + 1..]));
    let begin = start + cut.map_or(0, |i| i + 1);
    let globals = Value::table(vm.realm.globals);
    let owner = owner.split(|b| b".:".contains(b)).filter(|_| cut.is_some()).try_fold(globals, |v, name| field(vm, v, name));
    let Some(owner) = owner else { return (begin, Vec::new()) };
    let methods = cut.is_some_and(|i| path[i] == b':');
    let mut names: Vec<String> = Vec::new();
    for t in chain(vm, owner) {
        each(t, |name, v| {
            if name.starts_with(prefix) && is_name(name) && (!methods || v.is_func()) {
                names.push(String::from_utf8_lossy(name).into_owned());
            }
        });
    }
    if cut.is_none() {
        names.extend(KEYWORDS.iter().filter(|w| w.as_bytes().starts_with(prefix)).map(|w| (*w).to_owned()));
    }
    names.sort_unstable();
    names.dedup();
    (begin, names)
}

/// The tables where a value's fields are: itself, and where `__index` leads. Nothing is called.
fn chain(vm: &Vm, v: Value) -> Vec<Gc<Table>> {
    let mut tables = Vec::new();
    let mut v = v;
    for _ in 0..CHAIN {
        tables.extend(v.as_table());
        let Some(meta) = vm.metatable_of(v) else { break };
        let index = raw_field(meta, b"__index");
        if index.is_nil() {
            break;
        }
        v = index;
    }
    tables
}

fn field(vm: &Vm, v: Value, name: &[u8]) -> Option<Value> {
    chain(vm, v).into_iter().map(|t| raw_field(t, name)).find(|v| !v.is_nil())
}

fn raw_field(t: Gc<Table>, name: &[u8]) -> Value {
    let mut found = Value::NIL;
    each(t, |n, v| {
        if n == name {
            found = v;
        }
    });
    found
}

/// Calls a function for each field whose key is a string.
fn each(t: Gc<Table>, mut f: impl FnMut(&[u8], Value)) {
    let mut at = 0;
    while let Some((next, key, value)) = t.next_index(at) {
        at = next;
        if let Some(s) = key.as_str() {
            f(s.bytes(), value);
        }
    }
}
