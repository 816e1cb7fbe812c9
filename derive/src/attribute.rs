//! The attribute `#[lua(...)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Error, LitStr, Meta, Result};

/// What the attributes of a field, a function or a constant say.
#[derive(Default)]
pub struct LuaAttribute {
    /// The words, each with its position.
    words: Vec<(String, Span)>,
    /// The name for Lua code.
    pub name: Option<String>,
}

impl LuaAttribute {
    /// Reads the attributes. `allowed` are the words that may be used here.
    pub fn parse(attributes: &[Attribute], allowed: &[&str]) -> Result<LuaAttribute> {
        let mut parsed = LuaAttribute::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("lua")) {
            match &attribute.meta {
                Meta::Path(_) => {}
                Meta::NameValue(_) => return Err(Error::new(attribute.span(), "expected `#[lua(...)]`")),
                Meta::List(_) => attribute.parse_nested_meta(|meta| {
                    if meta.path.is_ident("name") {
                        parsed.name = Some(meta.value()?.parse::<LitStr>()?.value());
                        return Ok(());
                    }
                    match allowed.iter().find(|word| meta.path.is_ident(word)) {
                        Some(word) => parsed.words.push(((*word).to_owned(), meta.path.span())),
                        None => return Err(meta.error(format!("expected `name = \"...\"` or one of: {}", allowed.join(", ")))),
                    }
                    Ok(())
                })?,
            }
        }
        Ok(parsed)
    }
    /// Is this word there?
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|(w, _)| w == word)
    }
    /// An error at one of the words if more than one is there.
    pub fn at_most_one_of(&self, words: &[&str]) -> Result<()> {
        let mut found = self.words.iter().filter(|(w, _)| words.contains(&&**w));
        match (found.next(), found.next()) {
            (Some((first, _)), Some((second, at))) if first != second => {
                Err(Error::new(*at, format!("`{second}` cannot be combined with `{first}`")))
            }
            _ => Ok(()),
        }
    }
}

/// The code, under the conditional compilation of the item that it was made for.
pub fn conditional(code: TokenStream, attributes: &[Attribute]) -> TokenStream {
    let conditions = attributes.iter().filter(|a| a.path().is_ident("cfg"));
    quote! { #(#conditions)* { #code } }
}

/// The attributes that are not ours.
pub fn others(attributes: &mut Vec<Attribute>) {
    attributes.retain(|a| !a.path().is_ident("lua"));
}
