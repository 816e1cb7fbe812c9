//! Every public item of the embedding API has an example: in its own documentation, or in that of the type or trait that it belongs to.

use crate::{read, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Ident, ImplItem, Item, TraitItem, UseTree, Visibility};

/// A public item.
struct Public {
    file: String,
    /// The type or trait that it belongs to; empty for what stands by itself.
    owner: String,
    name: String,
    /// The code in its documentation.
    example: String,
}

/// The code blocks in the documentation that attributes have. A trait or type that is hidden from it has `None`.
fn example(attrs: &[Attribute]) -> Option<String> {
    let mut code = String::new();
    let mut is_inside = false;
    for a in attrs.iter().filter(|a| a.path().is_ident("doc")) {
        let syn::Meta::NameValue(pair) = &a.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(s), .. }) = &pair.value else { continue };
        let line = s.value();
        if line.trim_start().starts_with("```") {
            is_inside = !is_inside;
        } else if is_inside {
            code.push_str(&line);
            code.push('\n');
        }
    }
    Some(code)
}

fn is_public(v: &Visibility) -> bool {
    matches!(v, Visibility::Public(_))
}

/// Adds the names that a `use` makes public.
fn exported(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(p) => exported(&p.tree, names),
        UseTree::Group(g) => g.items.iter().for_each(|t| exported(t, names)),
        UseTree::Name(n) => drop(names.insert(n.ident.to_string())),
        UseTree::Rename(r) => drop(names.insert(r.ident.to_string())),
        UseTree::Glob(_) => {}
    }
}

fn exports(items: &[Item], names: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Use(u) if is_public(&u.vis) && example(&u.attrs).is_some() => exported(&u.tree, names),
            Item::Mod(m) if is_public(&m.vis) && example(&m.attrs).is_some() => {
                exports(m.content.as_ref().map_or(&[], |c| &c.1), names);
            }
            _ => {}
        }
    }
}

/// The type that an `impl` is for.
fn implemented(t: &syn::Type) -> Option<String> {
    let syn::Type::Path(p) = t else { return None };
    p.path.segments.last().map(|s| s.ident.to_string())
}

/// Adds the public items of a file; those that belong to a type or trait only if its name is exported.
fn collect(file: &str, items: &[Item], names: &BTreeSet<String>, out: &mut Vec<Public>) {
    let mut add = |owner: &str, name: &Ident, attrs: &[Attribute]| {
        let is_known = names.contains(owner) || owner.is_empty() && names.contains(&name.to_string());
        if let Some(example) = example(attrs).filter(|_| is_known) {
            out.push(Public { file: file.to_owned(), owner: owner.to_owned(), name: name.to_string(), example });
        }
    };
    for item in items {
        match item {
            Item::Struct(s) if is_public(&s.vis) => add("", &s.ident, &s.attrs),
            Item::Enum(e) if is_public(&e.vis) => add("", &e.ident, &e.attrs),
            Item::Type(t) if is_public(&t.vis) => add("", &t.ident, &t.attrs),
            Item::Trait(t) if is_public(&t.vis) => {
                add("", &t.ident, &t.attrs);
                for item in &t.items {
                    if let TraitItem::Fn(f) = item {
                        add(&t.ident.to_string(), &f.sig.ident, &f.attrs);
                    }
                }
            }
            Item::Impl(i) if i.trait_.is_none() => {
                let owner = implemented(&i.self_ty).unwrap_or_default();
                for item in &i.items {
                    match item {
                        ImplItem::Fn(f) if is_public(&f.vis) => add(&owner, &f.sig.ident, &f.attrs),
                        ImplItem::Const(c) if is_public(&c.vis) => add(&owner, &c.ident, &c.attrs),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

#[test]
fn each_public_item_has_an_example() {
    let parse = |text: &str| syn::parse_file(text).expect("Rust").items;
    let mut names = BTreeSet::new();
    exports(&parse(&read(&root().join("src/lib.rs"))), &mut names);
    let mut files = Vec::new();
    sources(&root().join("src/api"), &mut files);
    let mut all = Vec::new();
    for file in &files {
        collect(&file.display().to_string(), &parse(&read(file)), &names, &mut all);
    }
    assert!(all.len() > 350, "{} items", all.len());
    let owners: BTreeMap<&str, &str> = all.iter().filter(|p| p.owner.is_empty()).map(|p| (&*p.name, &*p.example)).collect();
    let lacks = |p: &&Public| p.example.is_empty() && !owners.get(&*p.owner).is_some_and(|example| has_word(example, &p.name));
    let without: Vec<String> = all.iter().filter(lacks).map(|p| format!("{}: {}::{}", p.file, p.owner, p.name)).collect();
    assert!(without.is_empty(), "{without:#?}");
}

#[test]
fn finds_items_without_example() {
    let names = BTreeSet::from(["A".to_owned()]);
    let code = "/// An A.\n///\n/// ```\n/// A.f()\n/// ```\npub struct A;\nimpl A { /// F.\n pub fn f() {} /// G.\n pub fn g() {} fn h() {} \
                #[doc(hidden)] pub fn i() {} }\n/// B.\npub struct B;";
    let mut all = Vec::new();
    collect("a.rs", &syn::parse_file(code).unwrap().items, &names, &mut all);
    let found: Vec<(&str, &str, bool)> = all.iter().map(|p| (&*p.owner, &*p.name, p.example.is_empty())).collect();
    assert_eq!(found, [("", "A", false), ("A", "f", true), ("A", "g", true)]);
    assert!(has_word(&all[0].example, "f") && !has_word(&all[0].example, "g"));
}
