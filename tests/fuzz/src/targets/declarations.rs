//! Declarations of C. A text with an error leaves the table of types as it was; a type that is shown as text is the same when the text is
//! parsed, as far as text can name it.

use perilune_vm::ffi::ctype::{CTypeId, CTypeTable};
use perilune_vm::ffi::parse::{Param, declarations, type_name};
use std::rc::Rc;

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, text) = data.split_first().unwrap_or((&0, &[]));
    let all = [Param::Type(CTypeId::INT16), Param::Name(Rc::from(&b"name"[..])), Param::Number(7), Param::Other];
    let params: Vec<Param> = all.into_iter().cycle().skip(usize::from(*first) % 4).take(usize::from(*first >> 2) % 4).collect();
    let mut types = CTypeTable::new();
    let before = types.len();
    if declarations(&mut types, text, &params).is_err() {
        assert_eq!(types.len(), before);
    }
    let before = types.len();
    match type_name(&mut types, text, &params) {
        Ok(_) => {}
        Err(_) => assert_eq!(types.len(), before),
    }
    for n in 1..types.len() as u32 {
        if types.find(n).is_some_and(|ct| ct.info.has_size() || ct.info.is_func()) {
            reread(&mut types, CTypeId(n));
        }
    }
}

/// The text of a type names the same type, if it names all of it: not parameters, nor structs without a name.
fn reread(types: &mut CTypeTable, id: CTypeId) {
    let (info, size) = types.info(id);
    assert!(info.align_log() < 16 && (info.is_func() || size.is_none_or(|s| s < 1 << 31)));
    let text = types.repr(id, None);
    let nameless = text.split(|c| *c == b' ').any(|word| word.first().is_some_and(u8::is_ascii_digit));
    if nameless || text.contains(&b'(') || text == b"?" || text == b"ctype" {
        return;
    }
    let again = type_name(types, &text, &[]);
    let Ok(again) = again else { return assert!(!text.is_ascii() || !is_plain(&text), "{}: {again:?}", text.escape_ascii()) };
    assert_eq!(types.repr(again, None), text, "{}", text.escape_ascii());
}

/// Is it the text of a type that only has names with one meaning? A struct or enumeration may be named as another one is, and the integers
/// of 32 bytes, which `mode(OI)` makes, have no name that a declaration may use (as in LuaJIT).
fn is_plain(text: &[u8]) -> bool {
    !text.split(|c| *c == b' ').any(|word| matches!(word, b"struct" | b"union" | b"enum" | b"int256_t" | b"uint256_t"))
}
