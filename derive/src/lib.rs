//! The macros of `perilune`, which documents and re-exports them under its feature `macros`.
#![forbid(unsafe_code)]

mod attribute;
mod chunk;
mod from_lua;
mod impl_block;
mod names;
mod signature;
#[cfg(test)]
mod tests;
mod user_data;

use proc_macro::TokenStream;

/// Source text of Lua in the source text of Rust: see `perilune::chunk`.
#[proc_macro]
pub fn chunk(input: TokenStream) -> TokenStream {
    expanded(chunk::expand(input.into()))
}

/// Implements `FromLua` for a type that is `Clone`, for userdata of it.
#[proc_macro_derive(FromLua)]
pub fn from_lua(input: TokenStream) -> TokenStream {
    expanded(syn::parse(input).map(from_lua::expand))
}

/// Implements `UserData` for a type, with its fields.
#[proc_macro_derive(UserData, attributes(lua))]
pub fn user_data(input: TokenStream) -> TokenStream {
    expanded(syn::parse(input).and_then(user_data::expand))
}

/// Adds the functions of an `impl` block to a type that derives `UserData`.
#[proc_macro_attribute]
pub fn userdata_impl(arguments: TokenStream, block: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        let message = "`userdata_impl` takes no arguments";
        return syn::Error::new(proc_macro2::Span::call_site(), message).to_compile_error().into();
    }
    expanded(syn::parse(block).and_then(impl_block::expand))
}

/// What a macro expands to: code, or the error.
fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|e| e.to_compile_error()).into()
}
