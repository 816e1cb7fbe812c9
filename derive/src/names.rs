//! Names in expanded code.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, Path};

/// The path of the crate `perilune`, which the user may have renamed in `Cargo.toml`.
pub fn root() -> TokenStream {
    match crate_name("perilune") {
        Ok(FoundCrate::Name(name)) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        // In tests and examples of `perilune` itself.
        Ok(FoundCrate::Itself) | Err(_) => quote!(::perilune),
    }
}

/// The type by which `inventory` collects what a derived type and its `impl` blocks register. It is declared beside the type.
pub fn registration(path: &Path) -> Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        *last = registration_name(&last.ident).into();
    }
    path
}

/// The name of that type.
pub fn registration_name(name: &Ident) -> Ident {
    format_ident!("__UserDataRegistrationOf{name}")
}

/// A name that no name of the user can be confused with.
pub fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
