//! Signatures of functions that Lua code calls: where the value, the state and the arguments go.

use crate::names;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, FnArg, GenericArgument, Ident, PathArguments, ReceiverKind, Result, Signature, Type, TypeReference};

/// How a function takes the value.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Receiver {
    None,
    Ref,
    Mut,
    Owned,
}

/// How a function takes the state.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum State {
    Ref,
    Owned,
}

/// One argument.
pub struct Argument {
    pub ident: Ident,
    /// The type that the Lua value is converted to.
    pub ty: TokenStream,
    /// Is the converted value borrowed to write?
    pub mutable: bool,
    /// The expression that is passed on.
    pub pass: TokenStream,
}

/// A signature.
pub struct Function {
    pub receiver: Receiver,
    pub state: Option<State>,
    pub arguments: Vec<Argument>,
}

impl Function {
    pub fn of(signature: &Signature) -> Result<Function> {
        let mut function = Function { receiver: Receiver::None, state: None, arguments: Vec::new() };
        let mut first = true;
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(this) => {
                    function.receiver = match &this.kind {
                        ReceiverKind::Reference(_, _, None) => Receiver::Ref,
                        ReceiverKind::Reference(_, _, Some(_)) => Receiver::Mut,
                        _ => Receiver::Owned,
                    };
                }
                FnArg::Typed(parameter) => {
                    let state = state(&parameter.ty).filter(|_| core::mem::take(&mut first));
                    match state {
                        Some(state) => function.state = Some(state),
                        None => function.arguments.push(argument(function.arguments.len(), &parameter.ty)?),
                    }
                }
            }
        }
        Ok(function)
    }
    /// The pattern and the type of all arguments.
    pub fn parameters(&self) -> TokenStream {
        let patterns = self.arguments.iter().map(|a| {
            let (ident, mutable) = (&a.ident, a.mutable.then(|| quote!(mut)));
            quote!(#mutable #ident)
        });
        let types = self.arguments.iter().map(|a| &a.ty);
        quote! { (#(#patterns,)*): (#(#types,)*) }
    }
}

/// Is this the state?
fn state(ty: &Type) -> Option<State> {
    let is_lua = |ty: &Type| matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "Lua"));
    match ty {
        Type::Reference(r) if r.mutability.is_none() && is_lua(&r.elem) => Some(State::Ref),
        ty if is_lua(ty) => Some(State::Owned),
        _ => None,
    }
}

fn argument(i: usize, ty: &Type) -> Result<Argument> {
    let ident = names::hidden(&format_ident!("argument{i}").to_string());
    if let Type::Reference(r) = ty {
        let (ty, mutable) = (borrowed(r)?, r.mutability.is_some());
        let pass = if mutable { quote!(&mut *#ident) } else { quote!(&*#ident) };
        return Ok(Argument { ident, ty, mutable, pass });
    }
    if let Some(Type::Reference(r)) = inside_option(ty) {
        let (inner, mutable) = (borrowed(r)?, r.mutability.is_some());
        let pass = if mutable { quote!(#ident.as_deref_mut()) } else { quote!(#ident.as_deref()) };
        return Ok(Argument { ident, ty: quote!(::core::option::Option<#inner>), mutable, pass });
    }
    Ok(Argument { pass: quote!(#ident), ident, ty: quote!(#ty), mutable: false })
}

/// What holds the value that a reference is to.
fn borrowed(reference: &TypeReference) -> Result<TokenStream> {
    let (root, to, mutable) = (names::root(), &*reference.elem, reference.mutability.is_some());
    let is = |ty: &Type, name: &str| matches!(ty, Type::Path(p) if p.path.is_ident(name));
    match to {
        Type::Slice(slice) if !mutable && is(&slice.elem, "u8") => Ok(quote!(#root::BorrowedBytes)),
        Type::Slice(_) => Err(Error::new_spanned(reference, "no Lua value becomes a reference to this slice")),
        to if is(to, "str") && !mutable => Ok(quote!(#root::BorrowedStr)),
        to if mutable => Ok(quote!(#root::UserDataRefMut<#to>)),
        to => Ok(quote!(#root::UserDataRef<#to>)),
    }
}

/// The type in an `Option`.
fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}
