//! Names of Rust types for Lua code.

/// The name of a type without the paths of modules: `Vec<String>`, not `alloc::vec::Vec<alloc::string::String>`. Elided lifetimes are
/// left out.
pub fn short_type_name<T: ?Sized>() -> String {
    short(core::any::type_name::<T>())
}

fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    // Where the last path segment begins in `out`.
    let mut segment = 0;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("::") {
            // A path goes on: what was written of it is dropped, unless it ends in a bracket, as in `<A as B>::C`.
            if out.len() > segment || !out.ends_with(['>', ')', ']']) {
                out.truncate(segment);
            } else {
                out.push_str("::");
                segment = out.len();
            }
            rest = behind;
            continue;
        }
        out.push(c);
        if !(c.is_alphanumeric() || matches!(c, '_' | '{' | '}' | '#' | '\'')) {
            segment = out.len();
        }
        rest = &rest[c.len_utf8()..];
    }
    out.replace("'_, ", "").replace("<'_>", "")
}

#[cfg(test)]
mod tests {
    use super::short_type_name;
    use std::collections::HashMap;
    use std::marker::PhantomData;

    struct Two<'a, 'b>(PhantomData<&'a &'b ()>);
    struct With<'a, T>(PhantomData<&'a T>);

    #[test]
    fn names() {
        assert_eq!(short_type_name::<String>(), "String");
        assert_eq!(short_type_name::<Option<String>>(), "Option<String>");
        assert_eq!(short_type_name::<(String, &str)>(), "(String, &str)");
        assert_eq!(short_type_name::<[i32; 3]>(), "[i32; 3]");
        assert_eq!(short_type_name::<HashMap<String, Option<[i32; 3]>>>(), "HashMap<String, Option<[i32; 3]>>");
        assert_eq!(short_type_name::<dyn Fn(i32) -> i32>(), "dyn Fn(i32) -> i32");
        assert_eq!(short_type_name::<With<'_, &str>>(), "With<&str>");
        assert_eq!(short_type_name::<(&Two<'_, '_>, [u8; 2])>(), "(&Two, [u8; 2])");
    }
}
