//! Names of Rust types for messages.

use std::any::type_name;

/// The name of a type without the paths of its parts and without lifetimes: `Vec<String>` for `alloc::vec::Vec<alloc::string::String>`.
pub fn short_type_name<T: ?Sized>() -> String {
    let mut short = String::new();
    let mut word = String::new();
    let mut rest = type_name::<T>();
    while let Some(c) = rest.chars().next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if let Some(after) = rest.strip_prefix("::") {
            // What was before is a module or a crate; behind a closing bracket it is a type.
            if word.is_empty() {
                short.push_str("::");
            }
            word.clear();
            rest = after;
            continue;
        } else {
            short.push_str(&core::mem::take(&mut word));
            short.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    short.push_str(&word);
    short.replace("'_, ", "").replace("<'_>", "").replace("&'_ ", "&")
}

#[cfg(test)]
mod tests {
    use super::short_type_name;
    use std::collections::HashMap;

    #[test]
    fn paths_are_left_out() {
        assert_eq!(short_type_name::<String>(), "String");
        assert_eq!(short_type_name::<(String, &str)>(), "(String, &str)");
        assert_eq!(short_type_name::<HashMap<String, Option<[i32; 3]>>>(), "HashMap<String, Option<[i32; 3]>>");
        assert_eq!(short_type_name::<dyn Fn(i32) -> std::io::Result<u8>>(), "dyn Fn(i32) -> Result<u8, Error>");
        assert_eq!(short_type_name::<Vec<std::borrow::Cow<'_, str>>>(), "Vec<Cow<str>>");
    }
}
