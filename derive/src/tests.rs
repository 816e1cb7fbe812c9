//! What the macros refuse, and what they say. What they make: `tests/embedding/macros.rs`.

use crate::{impl_block, user_data};

/// The error of an expansion.
#[track_caller]
fn message<T>(code: &str, result: syn::Result<T>) -> String {
    match result {
        Ok(_) => panic!("this expands: {code}"),
        Err(e) => e.to_string(),
    }
}

#[track_caller]
fn refused_type(code: &str, expected: &str) {
    let message = message(code, syn::parse_str(code).and_then(user_data::expand));
    assert!(message.contains(expected), "{code}: {message}");
}

/// A block with these items.
#[track_caller]
fn refused(items: &str, expected: &str) {
    let code = format!("impl T {{ {items} }}");
    let message = message(&code, syn::parse_str(&code).and_then(impl_block::expand));
    assert!(message.contains(expected), "{code}: {message}");
}

#[test]
fn attributes_without_a_meaning() {
    refused_type("#[lua(name = \"V\")] struct T { x: f64 }", "is for fields");
    refused_type("struct T(#[lua(skip)] f64);", "named fields of structs only");
    refused_type("enum T { #[lua(name = \"b\")] A }", "named fields of structs only");
    refused_type("enum T { A { #[lua(get)] x: f64 } }", "named fields of structs only");
    refused_type("struct T { #[lua(getter)] x: f64 }", "one of: skip, get, set");
    refused("#[lua(get)] fn f(&self) {}", "one of: skip, infallible");
}

#[test]
fn words_that_contradict_one_another() {
    refused_type("struct T { #[lua(skip, get)] x: f64 }", "`get` cannot be combined with `skip`");
    refused_type("struct T { #[lua(set)] #[lua(skip)] x: f64 }", "`skip` cannot be combined with `set`");
    refused_type("struct T { #[lua(name = \"a\", name = \"b\")] x: f64 }", "there is a `name` already");
    refused("#[lua(getter, setter)] fn f(&self) {}", "`setter` cannot be combined with `getter`");
}

#[test]
fn names_that_are_used_twice() {
    refused_type("struct T { x: f64, #[lua(name = \"x\")] y: f64 }", "another field that is read with the name `x`");
    refused("fn f() {} #[lua(name = \"f\")] const F: i32 = 1;", "another method, function or field with the name `f`");
    refused("#[lua(getter)] fn f(&self) {} #[lua(getter, name = \"f\")] fn g(&self) {}", "another getter");
    for fine in [
        "struct T { #[lua(get)] x: f64, #[lua(set, name = \"x\")] y: f64 }",
        "struct T { #[cfg(unix)] x: f64, #[cfg(windows)] #[lua(name = \"x\")] y: f64 }",
    ] {
        assert!(syn::parse_str(fine).and_then(user_data::expand).is_ok(), "{fine}");
    }
    let block = "impl T { #[lua(getter)] fn x(&self) {} #[lua(setter, name = \"x\")] fn y(&mut self, x: f64) {} }";
    assert!(syn::parse_str(block).and_then(impl_block::expand).is_ok());
}

#[test]
fn parameters_that_no_value_is_for() {
    refused("fn f(&self, x: i32, lua: &Lua) {}", "the state is the first parameter");
    refused("fn f(lua: &mut perilune::Lua) {}", "the state is `&Lua`");
    refused("fn f<T: FromLua>(x: T) {}", "no type or const parameters");
    refused("fn f<const N: usize>(x: [u8; N]) {}", "no type or const parameters");
    refused("fn f(x: impl FromLua) {}", "not `impl ...`");
    refused("fn f(x: Vec<impl FromLua>) {}", "not `impl ...`");
    refused("fn f(self: std::rc::Rc<Self>) {}", "expected `self`, `&self` or `&mut self`");
    // What Lua code does not call may have any signature.
    let block =
        "impl T { #[lua(skip)] fn f<T>(x: T, lua: &mut Lua) {} fn g<'a>(&'a self, s: &'a str) -> perilune::Result<()> {} }";
    assert!(syn::parse_str(block).and_then(impl_block::expand).is_ok());
    let code = "impl<T> V<T> { fn f(&self) {} }";
    assert!(message(code, syn::parse_str(code).and_then(impl_block::expand)).contains("a type without parameters"));
}
