//! The attribute `#[lua(...)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Fields, LitStr, Meta, Result};

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
        for attribute in attributes.iter().filter(|a| is_lua(a)) {
            match &attribute.meta {
                Meta::Path(_) => {}
                Meta::NameValue(_) => return Err(Error::new(attribute.span(), "expected `#[lua(...)]`")),
                Meta::List(_) => attribute.parse_nested_meta(|meta| {
                    if meta.path.is_ident("name") {
                        if parsed.name.is_some() {
                            return Err(meta.error("there is a `name` already"));
                        }
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

fn is_lua(attribute: &Attribute) -> bool {
    attribute.path().is_ident("lua")
}

/// An error if one of the attributes is `#[lua(...)]`, where it has no meaning.
pub fn none_is_ours(attributes: &[Attribute], why: &str) -> Result<()> {
    attributes.iter().find(|a| is_lua(a)).map_or(Ok(()), |a| Err(Error::new(a.span(), why)))
}

/// The same for all fields.
pub fn no_field_has_ours(fields: &Fields, why: &str) -> Result<()> {
    fields.iter().try_for_each(|field| none_is_ours(&field.attrs, why))
}

/// The names for Lua code that were given so far, by what they are names of.
#[derive(Default)]
pub struct Names(HashSet<(&'static str, String)>);

impl Names {
    /// An error if the name was given before. Items with conditions may exclude one another.
    pub fn add(&mut self, kind: &'static str, name: &str, attributes: &[Attribute], at: Span) -> Result<()> {
        let is_conditional = attributes.iter().any(|a| a.path().is_ident("cfg"));
        if is_conditional || self.0.insert((kind, name.to_owned())) {
            return Ok(());
        }
        Err(Error::new(at, format!("there is another {kind} with the name `{name}` for Lua code")))
    }
}

/// The code, under the conditional compilation of the item that it was made for.
pub fn conditional(code: TokenStream, attributes: &[Attribute]) -> TokenStream {
    let conditions = attributes.iter().filter(|a| a.path().is_ident("cfg"));
    quote! { #(#conditions)* { #code } }
}

/// The attributes that are not ours.
pub fn others(attributes: &mut Vec<Attribute>) {
    attributes.retain(|a| !is_lua(a));
}
