//! `#[derive(UserData)]`: the fields of a struct, and what `#[userdata_impl]` blocks of the type register.

use crate::attribute::{LuaAttribute, conditional};
use crate::names;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, Result};

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let message =
            "`UserData` cannot be derived for a type with parameters: derive it for a type that contains one without them";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().collect(),
            Fields::Unnamed(_) | Fields::Unit => Vec::new(),
        },
        Data::Enum(_) => Vec::new(),
        Data::Union(_) => return Err(Error::new_spanned(&input, "`UserData` cannot be derived for a union")),
    };
    let root = names::root();
    let registry = names::hidden("registry");
    let fields = fields.into_iter().map(|f| field(f, &registry)).collect::<Result<Vec<TokenStream>>>()?;
    let (name, visibility) = (&input.ident, &input.vis);
    let registration = names::registration_name(name);
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #registration(#visibility fn(&mut #root::UserDataRegistry<#name>));

        #root::__private::inventory::collect!(#registration);

        impl #root::UserData for #name {
            fn register(#registry: &mut #root::UserDataRegistry<Self>) {
                use #root::UserDataFields as _;
                #(#fields)*
                for part in #root::__private::inventory::iter::<#registration> {
                    (part.0)(#registry);
                }
            }
        }
    })
}

/// The registration of one field: read and written, unless the attribute says otherwise.
fn field(field: &Field, registry: &syn::Ident) -> Result<TokenStream> {
    let attribute = LuaAttribute::parse(&field.attrs, &["skip", "get", "set"])?;
    let Some(ident) = field.ident.as_ref().filter(|_| !attribute.has("skip")) else { return Ok(TokenStream::new()) };
    let name = attribute.name.clone().unwrap_or_else(|| ident.to_string());
    let both = !attribute.has("get") && !attribute.has("set");
    let (this, value) = (names::hidden("this"), names::hidden("value"));
    let get = (both || attribute.has("get")).then(|| {
        quote! {
            #registry.add_field_method_get(#name, |_, #this| ::core::result::Result::Ok(::core::clone::Clone::clone(&#this.#ident)));
        }
    });
    let set = (both || attribute.has("set")).then(|| {
        quote! {
            #registry.add_field_method_set(#name, |_, #this, #value| {
                #this.#ident = #value;
                ::core::result::Result::Ok(())
            });
        }
    });
    Ok(conditional(quote! { #get #set }, &field.attrs))
}
