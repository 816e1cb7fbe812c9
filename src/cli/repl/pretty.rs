//! Values as a person wants to read them: tables with what is in them, down to some depth.

use perilune_vm::object::{Gc, Table};
use perilune_vm::stdlib::put_value;
use perilune_vm::text::format::put_quoted;
use perilune_vm::value::Value;

/// Tables in tables in tables are shown as `{...}`.
const DEPTH: usize = 3;
/// Fields of one table that are shown.
const FIELDS: usize = 40;
/// A table that fits this many columns takes one line.
const WIDTH: usize = 76;

/// The text of a table.
pub fn table(t: Gc<Table>) -> Vec<u8> {
    let mut out = Vec::new();
    put_table(&mut out, t, &mut Vec::new());
    out
}

/// A field that follows those at 1, 2 and so on.
struct Field {
    name: Vec<u8>,
    value: Value,
}

fn put_table(out: &mut Vec<u8>, t: Gc<Table>, outer: &mut Vec<Gc<Table>>) {
    if outer.contains(&t) {
        out.extend_from_slice(b"{<itself>}");
        return;
    }
    if t.next_index(0).is_none() {
        out.extend_from_slice(b"{}");
        return;
    }
    if outer.len() == DEPTH {
        out.extend_from_slice(b"{...}");
        return;
    }
    outer.push(t);
    let items = items(t, outer);
    outer.pop();
    let width: usize = items.iter().map(|i| i.len() + 2).sum();
    if width + 2 * outer.len() <= WIDTH && !items.iter().any(|i| i.contains(&b'\n')) {
        out.extend_from_slice(b"{ ");
        out.extend_from_slice(&items.join(&b", "[..]));
        out.extend_from_slice(b" }");
        return;
    }
    let indent = b"  ".repeat(outer.len() + 1);
    out.extend_from_slice(b"{\n");
    for item in items {
        out.extend_from_slice(&indent);
        out.extend_from_slice(&item);
        out.extend_from_slice(b",\n");
    }
    out.extend_from_slice(&indent[2..]);
    out.push(b'}');
}

/// The texts of the fields: first the sequence, then what has names, by name.
fn items(t: Gc<Table>, outer: &mut Vec<Gc<Table>>) -> Vec<Vec<u8>> {
    let sequence = (1..).map(|i| t.get_int(i)).take_while(|v| !v.is_nil());
    let sequence: Vec<Value> = sequence.take(FIELDS + 1).collect();
    let mut fields = Vec::new();
    let mut at = 0;
    while let Some((next, key, value)) = t.next_index(at) {
        at = next;
        let place = key.as_number().filter(|n| n.fract() == 0.0 && (1.0..=sequence.len() as f64).contains(n));
        if place.is_none() {
            fields.push(Field { name: name(key), value });
        }
    }
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    let more = (sequence.len() + fields.len()).saturating_sub(FIELDS);
    let mut items: Vec<Vec<u8>> = Vec::new();
    for v in sequence.into_iter().take(FIELDS) {
        let mut item = Vec::new();
        put(&mut item, v, outer);
        items.push(item);
    }
    for f in fields.into_iter().take(FIELDS - items.len()) {
        let mut item = [&*f.name, b" = "].concat();
        put(&mut item, f.value, outer);
        items.push(item);
    }
    if more != 0 {
        items.push(b"...".to_vec());
    }
    items
}

/// A key as it would be written in a constructor.
fn name(key: Value) -> Vec<u8> {
    match key.as_str() {
        Some(s) if is_name(s.bytes()) => s.bytes().to_vec(),
        _ => {
            let mut name = b"[".to_vec();
            put(&mut name, key, &mut Vec::new());
            name.push(b']');
            name
        }
    }
}

/// Can this be written without quotes? (Reserved words are no names, but are read as such.)
pub fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

fn put(out: &mut Vec<u8>, v: Value, outer: &mut Vec<Gc<Table>>) {
    match (v.as_table(), v.as_str()) {
        (Some(t), _) if !outer.is_empty() => put_table(out, t, outer),
        (_, Some(s)) => put_quoted(out, s.bytes()),
        _ => put_value(out, v),
    }
}
