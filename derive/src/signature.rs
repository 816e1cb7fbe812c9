//! Signatures of functions that Lua code calls: where the value, the state and the arguments go.

use crate::names;
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Ident, Path, PathArguments, ReceiverKind, Result, ReturnType, Signature, Type,
    TypeReference,
};

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
    /// May the result borrow from the value or an argument?
    pub lends: bool,
}

impl Function {
    /// What the signature of a function of the type at `path` says.
    pub fn of(signature: &Signature, path: &Path) -> Result<Function> {
        let is_no_lifetime = |p: &&GenericParam| !matches!(p, GenericParam::Lifetime(_));
        if let Some(parameter) = signature.generics.params.iter().find(is_no_lifetime) {
            return Err(Error::new_spanned(parameter, "a function that Lua code calls has no type or const parameters"));
        }
        let lends = matches!(&signature.output, ReturnType::Type(_, ty) if has_reference(ty.to_token_stream()));
        let mut function = Function { receiver: Receiver::None, state: None, arguments: Vec::new(), lends };
        let mut first = true;
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(this) => {
                    function.receiver = match &this.kind {
                        ReceiverKind::Reference(_, _, None) => Receiver::Ref,
                        ReceiverKind::Reference(_, _, Some(_)) => Receiver::Mut,
                        ReceiverKind::Value => Receiver::Owned,
                        _ => return Err(Error::new_spanned(this, "expected `self`, `&self` or `&mut self`")),
                    };
                }
                FnArg::Typed(parameter) => {
                    let is_first = core::mem::take(&mut first);
                    match state(&parameter.ty)? {
                        Some(state) if is_first => function.state = Some(state),
                        Some(_) => return Err(Error::new_spanned(parameter, "the state is the first parameter after `self`")),
                        None => {
                            let ty = with_name(parameter.ty.to_token_stream(), path);
                            // The type is the same, so that it can be parsed; the positions are those of the user's.
                            function.arguments.push(argument(function.arguments.len(), &syn::parse2(ty)?)?);
                        }
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
fn state(ty: &Type) -> Result<Option<State>> {
    let is_lua = |ty: &Type| matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "Lua"));
    match ty {
        Type::Reference(r) if is_lua(&r.elem) && r.mutability.is_some() => {
            Err(Error::new_spanned(ty, "the state is `&Lua`: no function of it needs `&mut Lua`"))
        }
        Type::Reference(r) if is_lua(&r.elem) => Ok(Some(State::Ref)),
        ty if is_lua(ty) => Ok(Some(State::Owned)),
        _ => Ok(None),
    }
}

/// Code with a type's name for `Self`, which is not known outside of the `impl` block.
pub fn with_name(code: TokenStream, path: &Path) -> TokenStream {
    let replaced = code.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => path.to_token_stream(),
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), with_name(group.stream(), path));
            new.set_span(group.span());
            TokenTree::Group(new).into()
        }
        token => token.into(),
    });
    replaced.collect()
}

/// Is there a reference or a lifetime in a type, other than `'static`?
fn has_reference(ty: TokenStream) -> bool {
    let mut tokens = ty.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek();
        let is_found = match token {
            TokenTree::Group(group) => has_reference(group.stream()),
            // The lifetime of the reference decides, if there is one.
            TokenTree::Punct(p) if p.as_char() == '&' => !matches!(next, Some(TokenTree::Punct(p)) if p.as_char() == '\''),
            TokenTree::Punct(p) if p.as_char() == '\'' => !matches!(next, Some(TokenTree::Ident(name)) if name == "static"),
            _ => false,
        };
        if is_found {
            return true;
        }
    }
    false
}

fn argument(i: usize, ty: &Type) -> Result<Argument> {
    let ident = names::hidden(&format_ident!("argument{i}").to_string());
    if has_impl(ty.to_token_stream()) {
        return Err(Error::new_spanned(ty, "a function that Lua code calls has parameters of types with names, not `impl ...`"));
    }
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

/// Is `impl ...` in a type?
fn has_impl(ty: TokenStream) -> bool {
    ty.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
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
