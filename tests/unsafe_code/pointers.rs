//! Safe functions that use a raw pointer which they were given in an unsafe block.

use syn::visit::{self, Visit};

/// The names of such functions in a file.
pub fn functions(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).expect("a source file");
    let mut functions = Functions::default();
    functions.visit_file(&file);
    functions.found
}

#[derive(Default)]
struct Functions {
    found: Vec<String>,
}

impl Functions {
    fn look(&mut self, signature: &syn::Signature, body: &syn::Block) {
        if matches!(signature.safety, syn::Safety::Unsafe(_)) {
            return;
        }
        let pointers = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(syn::PatType { pat, ty, .. }) if matches!(**ty, syn::Type::Ptr(_)) => match &**pat {
                syn::Pat::Ident(name) => Some(name.ident.to_string()),
                _ => None,
            },
            _ => None,
        });
        let mut uses = Uses { pointers: pointers.collect(), inside: 0, found: false };
        uses.visit_block(body);
        if uses.found {
            self.found.push(signature.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.look(&f.sig, &f.block);
        visit::visit_item_fn(self, f);
    }
    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.look(&f.sig, &f.block);
        visit::visit_impl_item_fn(self, f);
    }
}

/// Looks for the pointers in unsafe blocks.
struct Uses {
    pointers: Vec<String>,
    /// How many unsafe blocks the expression is in.
    inside: usize,
    found: bool,
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.inside += 1;
        visit::visit_expr_unsafe(self, block);
        self.inside -= 1;
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.found |= self.inside > 0 && path.get_ident().is_some_and(|name| self.pointers.iter().any(|p| name == p));
        visit::visit_path(self, path);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
