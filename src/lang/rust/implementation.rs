//! `impl` blocks and traits: methods become members of their type, wherever it is defined.
//! A call on a trait's value reaches the method of every implementation.

use syn::{ImplItem, TraitItem, Type};

use super::item::is_test;
use super::lower::Lowering;
use super::path::{Named, Wanted};
use crate::base::ir::{ClassId, DYNAMIC, Expr, ExprId, FOREIGN, FunctionKind};

impl Lowering<'_> {
    pub(super) fn implementation(&mut self, item: syn::ItemImpl) {
        let Some(path) = self_path(&item.self_ty) else {
            // Of a slice, a tuple, a reference to one: nothing finds its methods by type.
            self.methods_of(item, None, None);
            return;
        };
        let span = self.type_span(&path);
        let names = self.components(&path);
        let named = self.resolve(self.scope, &names, path.leading_colon.is_some(), Wanted::Type, span);
        let type_expr = match named {
            Some(named) => self.named(named, Wanted::Type, span),
            None => self.unknown(span),
        };
        let own = match named {
            Some(Named::Cells(_, Some(cell))) => self.class_of(cell),
            _ => None,
        };
        let class = match own {
            Some(class) => class,
            None => {
                // The type is another file's: a class of its own that is one of those, too.
                let name = names.last().cloned().unwrap_or_default();
                let symbol = self.nested_symbol(&name);
                let class = self.push_class(name, symbol, span);
                if let Some(class) = self.builder.program.classes.get_mut(class as usize) {
                    class.bases.push(type_expr);
                }
                class
            }
        };
        self.methods_of(item, Some(class), own.is_none().then_some(type_expr));
    }

    fn methods_of(&mut self, item: syn::ItemImpl, class: Option<ClassId>, elsewhere: Option<ExprId>) {
        let outer = (self.class, self.test_only);
        self.class = class;
        self.test_only |= item.attrs.iter().any(is_test);
        let trait_expr = item.trait_.map(|(path, _)| self.path(&path, Wanted::Type));
        let foreign = trait_expr.is_some_and(|t| !self.is_in_file(t));
        if let (Some(trait_expr), Some(class)) = (trait_expr, class)
            && self.may_be_in_tree(trait_expr)
            && let Some(class) = self.builder.program.classes.get_mut(class as usize)
        {
            class.bases.push(trait_expr);
        }
        for item in item.items {
            match item {
                ImplItem::Fn(method) => {
                    let test_only = self.test_only || method.attrs.iter().any(is_test);
                    let (name, value) = self.method(method.sig, Some(method.block), class, test_only);
                    let Some(class) = class else { continue };
                    if let Some(trait_expr) = trait_expr {
                        self.store(trait_expr, format!("{DYNAMIC}{name}"), value);
                    }
                    if foreign {
                        self.add_member(class, format!("{FOREIGN}{name}"), value);
                    }
                    if let Some(elsewhere) = elsewhere {
                        self.store(elsewhere, name.clone(), value);
                    }
                    self.add_member(class, name, value);
                }
                ImplItem::Const(item) => {
                    let value = self.expression(item.expr);
                    if let Some(class) = class {
                        let name = self.name(&item.ident);
                        self.add_member(class, name, value);
                    }
                }
                ImplItem::Macro(item) => {
                    self.macro_call(item.mac);
                }
                _ => {}
            }
        }
        (self.class, self.test_only) = outer;
    }

    pub(super) fn trait_(&mut self, class: ClassId, item: syn::ItemTrait) {
        let outer = self.class.replace(class);
        for bound in &item.supertraits {
            if let syn::TypeParamBound::Trait(bound) = bound {
                let base = self.path(&bound.path, Wanted::Type);
                if let Some(class) = self.builder.program.classes.get_mut(class as usize) {
                    class.bases.push(base);
                }
            }
        }
        for item in item.items {
            match item {
                TraitItem::Fn(method) => {
                    let test_only = self.test_only;
                    let has_body = method.default.is_some();
                    let (name, value) = self.method(method.sig, method.default, Some(class), test_only);
                    if has_body {
                        self.add_member(class, name, value);
                    }
                }
                TraitItem::Const(item) => {
                    if let Some((_, value)) = item.default {
                        let value = self.expression(value);
                        let name = self.name(&item.ident);
                        self.add_member(class, name, value);
                    }
                }
                _ => {}
            }
        }
        self.class = outer;
    }

    /// A method or associated function; one without a body is only its name.
    fn method(
        &mut self,
        signature: syn::Signature,
        block: Option<syn::Block>,
        class: Option<ClassId>,
        test_only: bool,
    ) -> (String, ExprId) {
        let name = self.name(&signature.ident);
        let start = signature.fn_token.span;
        let end = block.as_ref().map_or(signature.ident.span(), |b| b.brace_token.span.close());
        let span = self.between(start, end);
        let Some(block) = block else { return (name, self.unknown(span)) };
        let kind = if signature.receiver().is_some() { FunctionKind::Method } else { FunctionKind::Static };
        let id = self.new_function(&signature.ident, span, kind, class, test_only);
        let symbol =
            self.builder.program.functions.get(id as usize).map_or_else(String::new, |f| f.symbol.clone());
        let value = self.builder.expr(Expr::Func(id), span);
        self.function(id, signature, block, symbol);
        (name, value)
    }

    /// The class of this file that a cell holds.
    fn class_of(&self, cell: u32) -> Option<ClassId> {
        let cell = self.builder.program.cells.get(cell as usize)?;
        cell.values.iter().find_map(|v| match self.builder.program.exprs.get(*v as usize)?.expr {
            Expr::Class(class) => Some(class),
            _ => None,
        })
    }

    fn is_in_file(&self, expr: ExprId) -> bool {
        match self.builder.program.exprs.get(expr as usize).map(|n| &n.expr) {
            Some(Expr::Cell(cell)) => self.class_of(*cell).is_some(),
            Some(Expr::Class(_)) => true,
            _ => false,
        }
    }

    /// Whether the linker may find the trait in the tree: its own code is the language's otherwise.
    fn may_be_in_tree(&self, expr: ExprId) -> bool {
        let program = &self.builder.program;
        match program.exprs.get(expr as usize).map(|n| &n.expr) {
            Some(Expr::Unknown) | None => false,
            Some(Expr::Import(import)) => {
                !matches!(import.module.split("::").next(), Some("std" | "core" | "alloc"))
            }
            Some(Expr::Cell(cell)) => program.cells.get(*cell as usize).is_some_and(|cell| {
                cell.values.iter().all(|v| match program.exprs.get(*v as usize).map(|n| &n.expr) {
                    Some(Expr::Import(import)) => {
                        !matches!(import.module.split("::").next(), Some("std" | "core" | "alloc"))
                    }
                    _ => true,
                })
            }),
            _ => true,
        }
    }
}

/// The path of the type that an `impl` is for, behind references and smart pointers.
fn self_path(ty: &Type) -> Option<syn::Path> {
    let mut ty = ty;
    for _ in 0..8 {
        match ty {
            Type::Path(path) => return Some(path.path.clone()),
            Type::Reference(inner) => ty = &inner.elem,
            Type::Paren(inner) => ty = &inner.elem,
            Type::Group(inner) => ty = &inner.elem,
            Type::TraitObject(inner) => {
                return inner.bounds.iter().find_map(|b| match b {
                    syn::TypeParamBound::Trait(bound) => Some(bound.path.clone()),
                    _ => None,
                });
            }
            _ => return None,
        }
    }
    None
}
