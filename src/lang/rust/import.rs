//! `use`, `extern crate` and `mod x;`: what they bind.

use syn::UseTree;

use super::lower::Lowering;
use super::path::{Named, Wanted};
use super::scope::{Entry, ScopeId, Star};
use crate::base::ir::Expr;
use crate::base::span::Span;

/// One name that a `use` brings, before it is resolved.
#[derive(Debug)]
pub(super) struct Use {
    path: Vec<String>,
    leading: bool,
    /// The name that is bound; `None` for a glob, `_` for a trait without a name.
    name: Option<String>,
    span: Span,
}

impl Lowering<'_> {
    /// The names that a `use` brings.
    pub(super) fn uses(&mut self, item: syn::ItemUse) -> Vec<Use> {
        let leading = item.leading_colon.is_some();
        let mut found = Vec::new();
        let mut stack: Vec<(Vec<String>, UseTree)> = vec![(Vec::new(), item.tree)];
        while let Some((mut prefix, tree)) = stack.pop() {
            match tree {
                UseTree::Path(path) => {
                    prefix.push(self.name(&path.ident));
                    stack.push((prefix, *path.tree));
                }
                UseTree::Group(group) => {
                    for tree in group.items {
                        stack.push((prefix.clone(), tree));
                    }
                }
                UseTree::Name(name) => {
                    let span = self.place(name.ident.span());
                    let bound = self.name(&name.ident);
                    let bound = if bound == "self" {
                        match prefix.last() {
                            Some(last) => last.clone(),
                            None => continue,
                        }
                    } else {
                        prefix.push(bound.clone());
                        bound
                    };
                    found.push(Use { path: prefix, leading, name: Some(bound), span });
                }
                UseTree::Rename(rename) => {
                    let span = self.place(rename.ident.span());
                    let original = self.name(&rename.ident);
                    if original != "self" || prefix.is_empty() {
                        prefix.push(original);
                    }
                    let name = self.name(&rename.rename);
                    found.push(Use { path: prefix, leading, name: Some(name), span });
                }
                UseTree::Glob(glob) => {
                    let span = self.place(glob.star_token.spans[0]);
                    found.push(Use { path: prefix, leading, name: None, span });
                }
            }
        }
        found.reverse();
        found
    }

    /// Binds the names of a scope's `use` items. One that goes through another waits for it.
    pub(super) fn bind_uses(&mut self, scope: ScopeId, uses: Vec<Use>) {
        let brought: Vec<String> = uses.iter().filter_map(|u| u.name.clone()).collect();
        let (later, now): (Vec<Use>, Vec<Use>) = uses.into_iter().partition(|one| {
            let first = one.path.first();
            !one.leading
                && one.path.len() > 1
                && first.is_some_and(|f| brought.contains(f) && one.name.as_ref() != Some(f))
        });
        for one in now.into_iter().chain(later) {
            self.bind_use(scope, one);
        }
    }

    fn bind_use(&mut self, scope: ScopeId, one: Use) {
        self.scopes.get_mut(scope).imported.push(one.path.join("::"));
        let Some(name) = one.name else {
            let star = match self.resolve(scope, &one.path, one.leading, Wanted::Type, one.span) {
                Some(Named::Module(module)) => Star::Inside(module),
                _ => {
                    let path = self.outward_path(scope, &one.path, one.leading);
                    self.import(path.clone(), None, one.span);
                    Star::Outside(path)
                }
            };
            self.scopes.get_mut(scope).stars.push(star);
            return;
        };
        let named = match one.path.as_slice() {
            // Through a module of another file: the linker follows it whole, and others through this file.
            [first, rest @ ..]
                if !one.leading && !rest.is_empty() && self.imported_as(scope, first).is_some() =>
            {
                let origin = self.imported_as(scope, first).unwrap_or_default();
                Named::Expr(self.outside(&origin, rest, one.span))
            }
            // `use serde;`, `use crate as root;`
            [only] if self.scopes.entry(scope, only).is_none() || *only == name => {
                Named::Expr(self.outside(only, &[], one.span))
            }
            _ => match self.resolve(scope, &one.path, one.leading, Wanted::Type, one.span) {
                Some(named) => named,
                None => return,
            },
        };
        match named {
            Named::Module(module) => self.scopes.declare_type(scope, &name, Entry::Module(module)),
            Named::Cells(value, entry) => {
                if let Some(value) = value {
                    self.scopes.declare(scope, &name, value);
                }
                if let Some(entry) = entry {
                    self.scopes.declare_type(scope, &name, Entry::Cell(entry));
                }
            }
            Named::Expr(expr) => {
                let cell = self.cell(&name, Some(expr));
                self.scopes.declare(scope, &name, cell);
                self.scopes.declare_type(scope, &name, Entry::Cell(cell));
            }
        }
    }

    /// A path as the linker reads it: from the crate's root, this file's module, or a crate.
    fn outward_path(&mut self, scope: ScopeId, path: &[String], leading: bool) -> String {
        let module = self.scopes.get(scope).module;
        let names = &self.scopes.get(module).names;
        let mut depth = names.len();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("self") => rest = &path[1..],
            Some("super") => {
                while let Some((first, tail)) = rest.split_first() {
                    if first != "super" || depth == 0 {
                        break;
                    }
                    depth -= 1;
                    rest = tail;
                }
                if rest.first().is_some_and(|f| f == "super") {
                    return rest.join("::");
                }
            }
            _ => {
                // A glob of something that another `use` brought.
                if let Some(Entry::Cell(cell)) = path.first().and_then(|f| self.scopes.entry(scope, f))
                    && !leading
                    && let Some(origin) = self.import_path(cell)
                {
                    let mut all = vec![origin];
                    all.extend(path.iter().skip(1).cloned());
                    return all.join("::");
                }
                return path.join("::");
            }
        }
        let mut all = vec!["self".to_owned()];
        all.extend(names.iter().take(depth).cloned());
        all.extend(rest.iter().cloned());
        all.join("::")
    }

    /// The path that a name of the type namespace imports, if that is all it does.
    fn imported_as(&self, scope: ScopeId, name: &str) -> Option<String> {
        match self.scopes.entry(scope, name)? {
            Entry::Cell(cell) => self.import_path(cell),
            Entry::Module(_) => None,
        }
    }

    /// The path that a cell imports, if that is all it does.
    fn import_path(&self, cell: u32) -> Option<String> {
        let cell = self.builder.program.cells.get(cell as usize)?;
        let [value] = cell.values.as_slice() else { return None };
        match &self.builder.program.exprs.get(*value as usize)?.expr {
            Expr::Import(import) => Some(match &import.name {
                Some(name) => format!("{}::{name}", import.module),
                None => import.module.clone(),
            }),
            _ => None,
        }
    }

    /// `extern crate a as b;`
    pub(super) fn extern_crate(&mut self, scope: ScopeId, item: &syn::ItemExternCrate) {
        let original = self.name(&item.ident);
        let name = match &item.rename {
            Some((_, rename)) => self.name(rename),
            None => original.clone(),
        };
        let span = self.place(item.ident.span());
        let module = if original == "self" { "crate".to_owned() } else { original };
        let expr = self.import(module, None, span);
        let cell = self.cell(&name, Some(expr));
        self.scopes.declare_type(scope, &name, Entry::Cell(cell));
    }

    /// `mod x;`
    pub(super) fn outer_module(&mut self, scope: ScopeId, item: &syn::ItemMod) {
        let name = self.name(&item.ident);
        let span = self.place(item.ident.span());
        let module = self.scopes.get(scope).module;
        let names = self.scopes.get(module).names.clone();
        let given = item.attrs.iter().find_map(|attr| match &attr.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
        let module = match given {
            Some(file) => format!("path:{file}"),
            None => {
                let mut path = vec!["self".to_owned()];
                path.extend(names);
                path.push(name.clone());
                path.join("::")
            }
        };
        let expr = self.import(module, None, span);
        let cell = self.cell(&name, Some(expr));
        self.scopes.declare_type(scope, &name, Entry::Cell(cell));
    }
}
