//! The files of each crate: which names items of which, and the circles of files that come of it.
//!
//! An edge leads from a file to the one that defines what a path in it names, through `use` and re-exports. That a method of a type is
//! called from another file is no edge: the methods of one type may be spread over the files of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Ident, Item, UseTree};

/// A module: its file, its parent, and what names in it stand for.
#[derive(Default)]
struct Module {
    file: usize,
    parent: usize,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// The modules of a crate, the first is its root, and its files.
#[derive(Default)]
struct Crate {
    modules: Vec<Module>,
    files: Vec<PathBuf>,
    syntax: Vec<(usize, Vec<Item>)>,
}

/// The edges between the files of a crate, as paths relative to the folder of its root.
pub struct Graph {
    pub files: Vec<String>,
    pub edges: Vec<BTreeSet<usize>>,
}

/// Reads a crate from the file that is its root.
pub fn read(root: &Path) -> Graph {
    let mut krate = Crate::default();
    krate.add_file(root.to_owned(), root.parent().expect("a folder"), 0);
    let folder = root.parent().expect("a folder");
    let files: Vec<String> =
        krate.files.iter().map(|f| f.strip_prefix(folder).expect("a file of the crate").display().to_string()).collect();
    let mut edges = vec![BTreeSet::new(); files.len()];
    for (module, items) in &krate.syntax {
        let mut paths = Paths { found: Vec::new() };
        items.iter().for_each(|item| paths.visit_item(item));
        let from = krate.modules[*module].file;
        for path in paths.found {
            edges[from].extend(krate.file_of(*module, &path, 0).filter(|to| *to != from));
        }
    }
    Graph { files, edges }
}

impl Crate {
    fn add_file(&mut self, file: PathBuf, folder: &Path, parent: usize) -> usize {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let items = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())).items;
        self.files.push(file);
        self.add_module(items, self.files.len() - 1, folder, parent)
    }
    /// A module in `file`, whose children are in `folder`.
    fn add_module(&mut self, items: Vec<Item>, file: usize, folder: &Path, parent: usize) -> usize {
        let n = self.modules.len();
        self.modules.push(Module { file, parent, ..Module::default() });
        for item in &items {
            if let Item::Mod(child) = item
                && !is_for_tests(&child.attrs)
            {
                let name = child.ident.to_string();
                let inside = folder.join(&name);
                let at = match &child.content {
                    Some((_, items)) => self.add_module(items.clone(), file, &inside, n),
                    None => {
                        let given = child.attrs.iter().find_map(path_attribute).map(|p| folder.join(p));
                        let plain = given.unwrap_or_else(|| folder.join(format!("{name}.rs")));
                        let path = if plain.exists() { plain } else { inside.join("mod.rs") };
                        self.add_file(path, &inside, n)
                    }
                };
                self.modules[n].children.insert(name, at);
            } else if let Item::Use(import) = item {
                self.import(n, &import.tree, &mut Vec::new());
            } else if let Some(name) = name_of(item) {
                self.modules[n].items.insert(name.to_string());
            }
        }
        self.syntax.push((n, items.into_iter().filter(|i| !matches!(i, Item::Mod(_))).collect()));
        n
    }
    fn import(&mut self, module: usize, tree: &UseTree, path: &mut Vec<String>) {
        let m = &mut self.modules[module];
        match tree {
            UseTree::Path(p) => {
                path.push(p.ident.to_string());
                self.import(module, &p.tree, path);
                path.pop();
            }
            UseTree::Name(n) if n.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                m.imports.insert(name, path.clone());
            }
            UseTree::Name(n) => {
                let name = n.ident.to_string();
                m.imports.insert(name.clone(), path.iter().cloned().chain([name]).collect());
            }
            UseTree::Rename(r) => {
                let full = path.iter().cloned().chain([r.ident.to_string()]).collect();
                m.imports.insert(r.rename.to_string(), full);
            }
            UseTree::Glob(_) => m.globs.push(path.clone()),
            UseTree::Group(g) => g.items.iter().for_each(|t| self.import(module, t, path)),
        }
    }

    /// The file that defines what a path means in a module; `None` if it is a module, or nothing of this crate.
    fn file_of(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        if depth > 16 {
            return None;
        }
        match first.as_str() {
            "crate" => self.inside(0, rest, depth),
            "self" => self.inside(module, rest, depth),
            "super" => self.inside(self.modules[module].parent, rest, depth),
            // The first name must be known in the module; anything else is of another crate, or a generic parameter.
            name => self.knows(module, name).then(|| self.inside(module, path, depth)).flatten(),
        }
    }
    fn knows(&self, module: usize, name: &str) -> bool {
        let m = &self.modules[module];
        m.children.contains_key(name) || m.items.contains(name) || m.imports.contains_key(name)
    }
    /// The same for a path that starts at a module.
    fn inside(&self, module: usize, path: &[String], depth: usize) -> Option<usize> {
        let m = &self.modules[module];
        let (first, rest) = path.split_first()?;
        if first == "super" {
            return self.inside(m.parent, rest, depth + 1);
        }
        if let Some(&child) = m.children.get(first)
            && (!rest.is_empty() || !m.items.contains(first))
        {
            return self.inside(child, rest, depth + 1);
        }
        if m.items.contains(first) {
            return Some(m.file);
        }
        if let Some(target) = m.imports.get(first) {
            let full: Vec<String> = target.iter().chain(rest).cloned().collect();
            // An import of a crate's name refers to itself.
            return if full == path { None } else { self.file_of(module, &full, depth + 1) };
        }
        let through = m.globs.iter().find_map(|glob| {
            let full: Vec<String> = glob.iter().chain(path).cloned().collect();
            self.file_of(module, &full, depth + 1)
        });
        // What a macro defines is where it is called.
        through.or(Some(m.file))
    }
}

fn is_for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("cfg") && a.parse_args::<syn::Path>().is_ok_and(|p| p.is_ident("test")))
}

fn path_attribute(a: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &a.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(s), .. }) = &pair.value else { return None };
    a.path().is_ident("path").then(|| s.value())
}

fn name_of(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(i) => Some(&i.ident),
        Item::Enum(i) => Some(&i.ident),
        Item::Fn(i) => Some(&i.sig.ident),
        Item::Macro(i) => i.ident.as_ref(),
        Item::Static(i) => Some(&i.ident),
        Item::Struct(i) => Some(&i.ident),
        Item::Trait(i) => Some(&i.ident),
        Item::Type(i) => Some(&i.ident),
        Item::Union(i) => Some(&i.ident),
        _ => None,
    }
}

/// Collects the paths of a file, those in `use` and in the arguments of macros included.
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}
    fn visit_item_use(&mut self, i: &'ast syn::ItemUse) {
        // A re-export says where something is, and needs nothing of it.
        if matches!(i.vis, syn::Visibility::Inherited) {
            self.tree(&i.tree, &mut Vec::new());
        }
    }
    fn visit_path(&mut self, p: &'ast syn::Path) {
        if p.leading_colon.is_none() {
            self.found.push(p.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, p);
    }
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        visit::visit_macro(self, m);
        let args = m.parse_body_with(syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated);
        if let Ok(args) = args {
            // They end before this borrow does.
            args.iter().for_each(|arg| Paths::visit_expr(self, &arg.clone()));
        }
    }
}

impl Paths {
    fn tree(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(p) => {
                path.push(p.ident.to_string());
                self.tree(&p.tree, path);
                path.pop();
            }
            UseTree::Name(n) => self.found.push(path.iter().cloned().chain([n.ident.to_string()]).collect()),
            UseTree::Rename(r) => self.found.push(path.iter().cloned().chain([r.ident.to_string()]).collect()),
            UseTree::Glob(_) => {}
            UseTree::Group(g) => g.items.iter().for_each(|t| self.tree(t, path)),
        }
    }
}

impl Graph {
    /// The circles: groups of files of which each leads to each other one.
    pub fn circles(&self) -> Vec<BTreeSet<usize>> {
        let n = self.files.len();
        let reach: Vec<BTreeSet<usize>> = (0..n).map(|from| self.reachable(from)).collect();
        let mut circles = Vec::new();
        let mut seen = BTreeSet::new();
        for a in 0..n {
            let circle: BTreeSet<usize> = (0..n).filter(|&b| reach[a].contains(&b) && reach[b].contains(&a)).collect();
            if circle.len() > 1 && seen.insert(circle.clone()) {
                circles.push(circle);
            }
        }
        circles
    }
    /// The files of a circle, each with those of the circle that it names.
    pub fn show(&self, circle: &BTreeSet<usize>) -> String {
        let line = |from: &usize| {
            let to: Vec<&str> = self.edges[*from].iter().filter(|to| circle.contains(to)).map(|to| &*self.files[*to]).collect();
            format!("\n    {} -> {}", self.files[*from], to.join(" "))
        };
        circle.iter().map(line).collect()
    }
    fn reachable(&self, from: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut work = vec![from];
        while let Some(file) = work.pop() {
            work.extend(self.edges[file].iter().filter(|to| found.insert(**to)));
        }
        found
    }
}
