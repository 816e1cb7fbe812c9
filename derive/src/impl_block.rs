//! `#[userdata_impl]`: functions and constants of an `impl` block as methods, fields and metamethods.

use crate::attribute::{LuaAttribute, Names, conditional, others};
use crate::names;
use crate::signature::{Function, Receiver, State};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Error, Ident, ImplItem, ImplItemConst, ImplItemFn, ItemImpl, Path, Result, Type};

pub fn expand(mut block: ItemImpl) -> Result<TokenStream> {
    let Type::Path(ty) = &*block.self_ty else {
        return Err(Error::new_spanned(&block.self_ty, "`userdata_impl` needs a type with a name"));
    };
    if !block.generics.params.is_empty() {
        return Err(Error::new_spanned(&block.generics, "`userdata_impl` needs a type without parameters"));
    }
    let (root, path) = (names::root(), ty.path.clone());
    let registry = names::hidden("registry");
    let mut target = Target { path: &path, registry: &registry, names: Names::default() };
    let mut parts = Vec::new();
    for item in &mut block.items {
        match item {
            ImplItem::Const(constant) => {
                parts.push(conditional(target.constant(constant)?, &constant.attrs));
                others(&mut constant.attrs);
            }
            ImplItem::Fn(function) => {
                parts.push(conditional(target.function(function)?, &function.attrs));
                others(&mut function.attrs);
            }
            _ => {}
        }
    }
    let registration = names::registration(&path);
    Ok(quote! {
        #block

        const _: () = {
            fn register(#registry: &mut #root::UserDataRegistry<#path>) {
                use #root::{UserDataFields as _, UserDataMethods as _};
                #(#parts)*
            }
            #root::__private::inventory::submit! { #registration(register) }
        };
    })
}

/// What the items of a block are registered for.
struct Target<'a> {
    path: &'a Path,
    registry: &'a Ident,
    /// The names of the items so far.
    names: Names,
}

impl Target<'_> {
    /// A constant: a field with a value, also of the metatable.
    fn constant(&mut self, constant: &ImplItemConst) -> Result<TokenStream> {
        let attribute = LuaAttribute::parse(&constant.attrs, &["skip", "meta", "field"])?;
        if attribute.has("skip") {
            return Ok(TokenStream::new());
        }
        let (path, registry, ident) = (self.path, self.registry, &constant.ident);
        let name = attribute.name.clone().unwrap_or_else(|| ident.unraw().to_string());
        let meta = attribute.has("meta");
        self.names.add(kind(None, meta), &name, &constant.attrs, ident.span())?;
        let add = format_ident!("{}", if meta { "add_meta_field" } else { "add_field" });
        Ok(quote! { #registry.#add(#name, #path::#ident); })
    }

    /// A function, by what its attribute makes of it.
    fn function(&mut self, item: &ImplItemFn) -> Result<TokenStream> {
        let attribute = LuaAttribute::parse(&item.attrs, &["skip", "infallible", "getter", "setter", "field", "meta"])?;
        if attribute.has("skip") {
            return Ok(TokenStream::new());
        }
        attribute.at_most_one_of(&["getter", "setter", "field"])?;
        attribute.at_most_one_of(&["getter", "meta"])?;
        attribute.at_most_one_of(&["setter", "meta"])?;
        let signature = &item.sig;
        let fail = |message: &str| Err(Error::new_spanned(signature, message));
        let is_async = signature.asyncness.is_some();
        let function = Function::of(signature, self.path)?;
        if !is_async && function.state == Some(State::Owned) {
            return fail("only async functions take `Lua` by value: take `&Lua`");
        }
        let name = match &attribute.name {
            Some(name) => name.clone(),
            None if attribute.has("meta") && !signature.ident.unraw().to_string().starts_with("__") => {
                return fail("a metamethod needs `name = \"__...\"`, or a function name that begins with `__`");
            }
            None => signature.ident.unraw().to_string(),
        };
        let accessor = ["getter", "setter", "field"].into_iter().find(|word| attribute.has(word));
        self.names.add(kind(accessor, attribute.has("meta")), &name, &item.attrs, signature.ident.span())?;
        let (path, registry, infallible) = (self.path, self.registry, attribute.has("infallible"));
        let part = Part { path, registry, ident: &signature.ident, name, function, infallible };
        if let Some(word) = accessor.filter(|_| is_async) {
            return fail(&format!("a {word} cannot be async"));
        }
        let (receiver, arguments) = (part.function.receiver, part.function.arguments.len());
        match accessor {
            Some("getter") if receiver != Receiver::Ref => fail("a getter takes `&self`"),
            Some("getter") if arguments != 0 => fail("a getter takes no argument"),
            Some("getter") => Ok(part.getter()),
            Some("setter") if !matches!(receiver, Receiver::Ref | Receiver::Mut) => fail("a setter takes `&mut self`"),
            Some("setter") if arguments != 1 => fail("a setter takes one argument"),
            Some("setter") => Ok(part.setter()),
            Some(_) if receiver != Receiver::None => fail("the function of a field does not take `self`"),
            Some(_) if arguments != 0 => fail("the function of a field takes no argument"),
            Some(_) => Ok(part.field(attribute.has("meta"))),
            None if attribute.has("meta") && receiver == Receiver::Owned => fail("a metamethod takes `&self` or `&mut self`"),
            None => Ok(part.method(attribute.has("meta"), is_async)),
        }
    }
}

/// What a name is the name of: two of the same kind would replace one another.
fn kind(accessor: Option<&str>, meta: bool) -> &'static str {
    match accessor {
        Some("getter") => "getter",
        Some("setter") => "setter",
        _ if meta => "field of the metatable",
        _ => "method, function or field",
    }
}

/// A function and where it goes.
struct Part<'a> {
    path: &'a Path,
    registry: &'a Ident,
    ident: &'a Ident,
    name: String,
    function: Function,
    infallible: bool,
}

impl Part<'_> {
    /// The call of the function, whose result is a `Result`. In async functions `this` and the state are owned. A result that borrows from them
    /// is converted by `convert` before they go.
    fn call(&self, is_async: bool, convert: TokenStream) -> TokenStream {
        let (path, ident) = (self.path, self.ident);
        let (root, this, lua) = (names::root(), names::hidden("this"), names::hidden("lua"));
        let state = if is_async { quote!(&#lua) } else { quote!(#lua) };
        let this = match self.function.receiver {
            Receiver::None => None,
            Receiver::Ref if is_async => Some(quote!(&#this,)),
            Receiver::Mut if is_async => Some(quote!(&mut #this,)),
            _ => Some(quote!(#this,)),
        };
        let lua = match self.function.state {
            None => None,
            Some(State::Ref) if is_async => Some(quote!(&#lua,)),
            Some(_) => Some(quote!(#lua,)),
        };
        let arguments = self.function.arguments.iter().map(|a| &a.pass);
        let wait = is_async.then(|| quote!(.await));
        let call = quote!(#path::#ident(#this #lua #(#arguments),*) #wait);
        let call = if self.infallible { quote!(::core::result::Result::Ok(#call)) } else { call };
        if !self.function.lends {
            return call;
        }
        let (result, value) = (names::hidden("result"), names::hidden("value"));
        quote! {{
            let #result: #root::Result<_> = #call;
            #result.and_then(|#value| #convert(#value, #state))
        }}
    }
    fn getter(&self) -> TokenStream {
        let root = names::root();
        let (registry, name, call) = (self.registry, &self.name, self.call(false, quote!(#root::IntoLua::into_lua)));
        let (this, lua) = (names::hidden("this"), names::hidden("lua"));
        quote! { #registry.add_field_method_get(#name, |#lua, #this| { let _ = #lua; #call }); }
    }
    fn setter(&self) -> TokenStream {
        let root = names::root();
        let (registry, name, call) = (self.registry, &self.name, self.call(false, quote!(#root::IntoLua::into_lua)));
        let (this, lua) = (names::hidden("this"), names::hidden("lua"));
        let parameters = self.function.arguments.iter().map(|a| {
            let (ident, ty, mutable) = (&a.ident, &a.ty, a.mutable.then(|| quote!(mut)));
            quote!(#mutable #ident: #ty)
        });
        quote! { #registry.add_field_method_set(#name, |#lua, #this, #(#parameters)*| { let _ = #lua; #call }); }
    }
    fn field(&self, meta: bool) -> TokenStream {
        let (registry, name, path, ident) = (self.registry, &self.name, self.path, self.ident);
        let add = format_ident!("{}", if meta { "add_meta_field" } else { "add_field" });
        quote! { #registry.#add(#name, #path::#ident()); }
    }
    fn method(&self, meta: bool, is_async: bool) -> TokenStream {
        let root = names::root();
        let convert = quote!(#root::IntoLuaMulti::into_lua_multi);
        let (registry, name, call) = (self.registry, &self.name, self.call(is_async, convert));
        let (this, lua) = (names::hidden("this"), names::hidden("lua"));
        let meta_part = if meta { "meta_" } else { "" };
        let async_part = if is_async { "async_" } else { "" };
        let kind = match self.function.receiver {
            Receiver::None => "function",
            Receiver::Ref => "method",
            Receiver::Mut => "method_mut",
            Receiver::Owned => "method_once",
        };
        let add = format_ident!("add_{async_part}{meta_part}{kind}");
        let parameters = match self.function.receiver {
            // A metamethod gets the userdata also where the function does not take it.
            Receiver::None if meta => {
                let (idents, types) =
                    (self.function.arguments.iter().map(|a| &a.ident), self.function.arguments.iter().map(|a| &a.ty));
                quote! { (_, #(#idents,)*): (#root::Value, #(#types,)*) }
            }
            _ => self.function.parameters(),
        };
        let this = match self.function.receiver {
            Receiver::None => None,
            Receiver::Mut if is_async => Some(quote!(mut #this,)),
            _ => Some(quote!(#this,)),
        };
        let body = if is_async { quote!(async move { let _ = &#lua; #call }) } else { quote!({ let _ = #lua; #call }) };
        quote! { #registry.#add(#name, |#lua, #this #parameters| #body); }
    }
}
