//! Paths: what `a::b::c` names, through modules of this file, imports, globs and crates.

use syn::spanned::Spanned as _;

use super::lower::Lowering;
use super::scope::{Entry, ScopeId};
use crate::base::ir::{CellId, Expr, ExprId};
use crate::base::span::Span;

/// What a path's last component stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A module of this file.
    Module(ScopeId),
    /// A value and a type of that name; at least one is there.
    Cells(Option<CellId>, Option<CellId>),
    /// An expression that yields it.
    Expr(ExprId),
}

/// Which namespace the use of a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Value,
    Type,
}

/// The place of a path, generic arguments of its end aside.
pub(super) fn outline(lowering: &Lowering<'_>, path: &syn::Path) -> Span {
    let first = match (&path.leading_colon, path.segments.first()) {
        (Some(colon), _) => colon.spans[0],
        (None, Some(segment)) => segment.ident.span(),
        (None, None) => path.span(),
    };
    let last = path.segments.last().map_or(first, |s| s.ident.span());
    lowering.between(first, last)
}

impl Lowering<'_> {
    /// The names of a path's components.
    pub(super) fn components(&mut self, path: &syn::Path) -> Vec<String> {
        let idents: Vec<&proc_macro2::Ident> = path.segments.iter().map(|s| &s.ident).collect();
        idents.into_iter().map(|ident| self.name(ident)).collect()
    }

    /// The value or type that a path names, as an expression.
    pub(super) fn path(&mut self, path: &syn::Path, wanted: Wanted) -> ExprId {
        let span = outline(self, path);
        let names = self.components(path);
        let leading = path.leading_colon.is_some();
        match self.resolve(self.scope, &names, leading, wanted, span) {
            Some(named) => self.named(named, wanted, span),
            None => self.unknown(span),
        }
    }

    /// A resolved path as an expression.
    pub(super) fn named(&mut self, named: Named, wanted: Wanted, span: Span) -> ExprId {
        let cell = match (named, wanted) {
            (Named::Expr(expr), _) => return expr,
            (Named::Module(_), _) => None,
            (Named::Cells(value, entry), Wanted::Value) => value.or(entry),
            (Named::Cells(value, entry), Wanted::Type) => entry.or(value),
        };
        match cell {
            Some(cell) => self.builder.expr(Expr::Cell(cell), span),
            None => self.unknown(span),
        }
    }

    /// What a path names, seen from a scope; `None` if nothing of the file binds its only component.
    pub(super) fn resolve(
        &mut self,
        scope: ScopeId,
        names: &[String],
        leading: bool,
        wanted: Wanted,
        span: Span,
    ) -> Option<Named> {
        let (first, rest) = names.split_first()?;
        if leading {
            return Some(Named::Expr(self.outside(first, rest, span)));
        }
        match first.as_str() {
            "crate" => return Some(Named::Expr(self.rooted("crate".to_owned(), rest, span))),
            "self" if !rest.is_empty() => {
                let module = self.scopes.get(scope).module;
                return Some(self.within(module, rest, span));
            }
            "super" => return Some(self.above(scope, rest, span)),
            "Self" => {
                let class = self.class?;
                let class = self.builder.expr(Expr::Class(class), span);
                return Some(Named::Expr(self.members(class, rest, span)));
            }
            _ => {}
        }
        if rest.is_empty() {
            return self.single(scope, first, wanted, span);
        }
        match self.entry(scope, first, span) {
            Some(Named::Module(module)) => Some(self.within(module, rest, span)),
            // From a glob of another file, or a crate after all.
            Some(Named::Expr(from_glob)) => {
                let outside = self.outside(first, &[], span);
                let base = self.builder.expr(Expr::Union(vec![from_glob, outside]), span);
                Some(Named::Expr(self.members(base, rest, span)))
            }
            Some(named) => {
                let base = self.named(named, Wanted::Type, span);
                Some(Named::Expr(self.members(base, rest, span)))
            }
            None => Some(Named::Expr(self.outside(first, rest, span))),
        }
    }

    /// A name alone.
    fn single(&mut self, scope: ScopeId, name: &str, wanted: Wanted, span: Span) -> Option<Named> {
        if wanted == Wanted::Type {
            return match self.entry(scope, name, span)? {
                Named::Module(module) => Some(Named::Module(module)),
                named => Some(named),
            };
        }
        if let Some(cell) = self.scopes.value(scope, name) {
            return Some(Named::Cells(Some(cell), None));
        }
        self.through_globs(scope, name, wanted, span)
    }

    /// What a name of the type namespace stands for.
    fn entry(&mut self, scope: ScopeId, name: &str, span: Span) -> Option<Named> {
        match self.scopes.entry(scope, name) {
            Some(Entry::Module(module)) => return Some(Named::Module(module)),
            Some(Entry::Cell(cell)) => return Some(Named::Cells(None, Some(cell))),
            None => {}
        }
        // What the language's own library brings is not looked for in globs of other crates.
        self.through_globs(scope, name, Wanted::Type, span)
    }

    fn through_globs(&mut self, scope: ScopeId, name: &str, wanted: Wanted, span: Span) -> Option<Named> {
        let (inside, outside) = self.scopes.globs(scope);
        for module in inside {
            match self.scopes.member(module, name) {
                (None, None) => {}
                (None, Some(Entry::Module(module))) => return Some(Named::Module(module)),
                (value, Some(Entry::Cell(entry))) => return Some(Named::Cells(value, Some(entry))),
                (value, _) => return Some(Named::Cells(value, None)),
            }
        }
        if outside.is_empty() || is_prelude(name) || (wanted == Wanted::Type && is_crate(name)) {
            return None;
        }
        let options: Vec<ExprId> =
            outside.into_iter().map(|module| self.import(module, Some(name.to_owned()), span)).collect();
        match options.as_slice() {
            [only] => Some(Named::Expr(*only)),
            _ => Some(Named::Expr(self.builder.expr(Expr::Union(options), span))),
        }
    }

    /// A path inside a module of this file.
    pub(super) fn within(&mut self, module: ScopeId, names: &[String], span: Span) -> Named {
        let mut module = module;
        let mut names = names;
        while let Some((first, rest)) = names.split_first() {
            if first == "super" {
                let Some(outer) = self.scopes.get(module).outer else {
                    return Named::Expr(self.rooted("super".to_owned(), rest, span));
                };
                module = outer;
                names = rest;
                continue;
            }
            let (value, entry) = self.scopes.member(module, first);
            match (rest.is_empty(), entry) {
                (_, Some(Entry::Module(inner))) if !(rest.is_empty() && value.is_some()) => {
                    module = inner;
                    names = rest;
                    continue;
                }
                (true, _) if value.is_some() || entry.is_some() => {
                    let entry = match entry {
                        Some(Entry::Cell(cell)) => Some(cell),
                        _ => None,
                    };
                    return Named::Cells(value, entry);
                }
                (false, Some(Entry::Cell(cell))) => {
                    let base = self.builder.expr(Expr::Cell(cell), span);
                    return Named::Expr(self.members(base, rest, span));
                }
                _ => {}
            }
            // Through a glob of the module.
            let (_, outside) = self.scopes.globs(module);
            let options: Vec<ExprId> =
                outside.into_iter().map(|from| self.rooted(from, names, span)).collect();
            return Named::Expr(match options.as_slice() {
                [] => self.unknown(span),
                [only] => *only,
                _ => self.builder.expr(Expr::Union(options), span),
            });
        }
        Named::Module(module)
    }

    /// `super::…` from a scope.
    fn above(&mut self, scope: ScopeId, names: &[String], span: Span) -> Named {
        let module = self.scopes.get(scope).module;
        match self.scopes.get(module).outer {
            Some(outer) => self.within(outer, names, span),
            None => Named::Expr(self.rooted("super".to_owned(), names, span)),
        }
    }

    /// A path that the linker resolves from a root.
    fn rooted(&mut self, root: String, names: &[String], span: Span) -> ExprId {
        let Some((last, path)) = names.split_last() else { return self.import(root, None, span) };
        let mut module = root;
        for name in path {
            module.push_str("::");
            module.push_str(name);
        }
        self.import(module, Some(last.clone()), span)
    }

    /// A path that begins with a crate's name.
    pub(super) fn outside(&mut self, first: &str, rest: &[String], span: Span) -> ExprId {
        if rest.is_empty() {
            return self.import(first.to_owned(), None, span);
        }
        self.rooted(first.to_owned(), rest, span)
    }

    /// Further components of a path whose beginning is a value.
    pub(super) fn members(&mut self, base: ExprId, names: &[String], span: Span) -> ExprId {
        let mut base = base;
        for name in names {
            base = self.builder.expr(Expr::Attr { base, name: format!("::{name}") }, span);
        }
        base
    }
}

/// Names that every module has, and that nobody means to take from a glob.
fn is_prelude(name: &str) -> bool {
    matches!(
        name,
        "Some"
            | "None"
            | "Ok"
            | "Err"
            | "Option"
            | "Result"
            | "Vec"
            | "String"
            | "Box"
            | "drop"
            | "Default"
            | "Clone"
            | "Copy"
            | "Drop"
            | "Into"
            | "From"
            | "Iterator"
            | "ToString"
            | "ToOwned"
            | "AsRef"
            | "Send"
            | "Sync"
            | "Sized"
            | "Fn"
            | "FnMut"
            | "FnOnce"
    )
}

/// Crates that the compiler brings.
fn is_crate(name: &str) -> bool {
    matches!(name, "std" | "core" | "alloc" | "libc" | "nix")
}
