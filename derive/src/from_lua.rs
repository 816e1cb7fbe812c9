//! `#[derive(FromLua)]`: a clone of the value of a userdata.

use crate::names;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{DeriveInput, parse_quote};

pub fn expand(mut input: DeriveInput) -> TokenStream {
    let (root, name) = (names::root(), &input.ident);
    let text = name.unraw().to_string();
    input.generics.make_where_clause().predicates.push(parse_quote!(Self: 'static + ::core::clone::Clone));
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    quote! {
        impl #parameters #root::FromLua for #name #arguments #conditions {
            fn from_lua(value: #root::Value, _: &#root::Lua) -> #root::Result<Self> {
                match value {
                    #root::Value::UserData(u) => u.borrow::<Self>().map(|value| ::core::clone::Clone::clone(&*value)),
                    _ => ::core::result::Result::Err(#root::Error::FromLuaConversionError {
                        from: value.type_name(),
                        to: ::std::string::String::from(#text),
                        message: ::core::option::Option::None,
                    }),
                }
            }
        }
    }
}
