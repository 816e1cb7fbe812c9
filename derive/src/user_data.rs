//! `#[derive(UserData)]`: the fields of a struct, and what `#[userdata_impl]` blocks of the type register.

use crate::attribute::{LuaAttribute, Names, conditional, no_field_has_ours, none_is_ours};
use crate::names;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Field, Fields, Result};

/// Why an attribute is refused.
const NOT_A_TYPE: &str = "`#[lua(...)]` is for fields, and for functions and constants of a `userdata_impl` block";
const NOT_NAMED: &str = "`#[lua(...)]` has no meaning here: Lua code sees named fields of structs only";

pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let message =
            "`UserData` cannot be derived for a type with parameters: derive it for a type that contains one without them";
        return Err(Error::new_spanned(&input.generics, message));
    }
    none_is_ours(&input.attrs, NOT_A_TYPE)?;
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().collect(),
            fields => {
                no_field_has_ours(fields, NOT_NAMED)?;
                Vec::new()
            }
        },
        Data::Enum(data) => {
            for variant in &data.variants {
                none_is_ours(&variant.attrs, NOT_NAMED)?;
                no_field_has_ours(&variant.fields, NOT_NAMED)?;
            }
            Vec::new()
        }
        Data::Union(_) => return Err(Error::new_spanned(&input, "`UserData` cannot be derived for a union")),
    };
    let root = names::root();
    let registry = names::hidden("registry");
    let mut lua_names = Names::default();
    let fields = fields.into_iter().map(|f| field(f, &registry, &mut lua_names)).collect::<Result<Vec<TokenStream>>>()?;
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
fn field(field: &Field, registry: &syn::Ident, lua_names: &mut Names) -> Result<TokenStream> {
    let attribute = LuaAttribute::parse(&field.attrs, &["skip", "get", "set"])?;
    attribute.at_most_one_of(&["skip", "get"])?;
    attribute.at_most_one_of(&["skip", "set"])?;
    let Some(ident) = field.ident.as_ref().filter(|_| !attribute.has("skip")) else { return Ok(TokenStream::new()) };
    let name = attribute.name.clone().unwrap_or_else(|| ident.unraw().to_string());
    let both = !attribute.has("get") && !attribute.has("set");
    let (is_read, is_written) = (both || attribute.has("get"), both || attribute.has("set"));
    if is_read {
        lua_names.add("field that is read", &name, &field.attrs, ident.span())?;
    }
    if is_written {
        lua_names.add("field that is written", &name, &field.attrs, ident.span())?;
    }
    let (this, value) = (names::hidden("this"), names::hidden("value"));
    let get = is_read.then(|| {
        quote! {
            #registry.add_field_method_get(#name, |_, #this| ::core::result::Result::Ok(::core::clone::Clone::clone(&#this.#ident)));
        }
    });
    let set = is_written.then(|| {
        quote! {
            #registry.add_field_method_set(#name, |_, #this, #value| {
                #this.#ident = #value;
                ::core::result::Result::Ok(())
            });
        }
    });
    Ok(conditional(quote! { #get #set }, &field.attrs))
}
