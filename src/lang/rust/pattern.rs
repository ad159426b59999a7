//! Patterns: what each name in one is of the matched value, and what a match on one tests.

use syn::{Member, Pat};

use super::lower::Lowering;
use super::path::Wanted;
use crate::base::ir::{BinaryOp, CellId, Expr, ExprId};

/// Variants that hold what was put into them.
const HOLDERS: [&str; 6] = ["Some", "Ok", "Err", "Ready", "Break", "Continue"];

impl Lowering<'_> {
    /// Binds the names of a pattern.
    pub(super) fn pattern(&mut self, pattern: Pat, value: ExprId) {
        match pattern {
            Pat::Ident(ident) => {
                let name = self.name(&ident.ident);
                let is_constant = name.starts_with(char::is_uppercase) && ident.subpat.is_none();
                if !is_constant {
                    let cell = self.cell(&name, Some(value));
                    self.bind_here(&name, cell);
                }
                if let Some((_, inner)) = ident.subpat {
                    self.pattern(*inner, value);
                }
            }
            Pat::Type(typed) => {
                let value = match self.type_value(&typed.ty, 0) {
                    Some(instance) => {
                        let span = self.span_of(value);
                        self.builder.expr(Expr::Union(vec![value, instance]), span)
                    }
                    None => value,
                };
                self.pattern(*typed.pat, value);
            }
            Pat::Reference(inner) => self.pattern(*inner.pat, value),
            Pat::Paren(inner) => self.pattern(*inner.pat, value),
            Pat::Guard(inner) => self.pattern(*inner.pat, value),
            Pat::Or(inner) => {
                for case in inner.cases {
                    self.pattern(case, value);
                }
            }
            Pat::Tuple(inner) => {
                for (position, element) in inner.elems.into_iter().enumerate() {
                    if matches!(element, Pat::Wild(_) | Pat::Rest(_)) {
                        continue;
                    }
                    let span = self.span_of(value);
                    let item = self.builder.expr(Expr::Item(value, position as u32), span);
                    self.pattern(element, item);
                }
            }
            Pat::Slice(inner) => {
                let mut known = true;
                for (position, element) in inner.elems.into_iter().enumerate() {
                    let span = self.span_of(value);
                    known &= !matches!(element, Pat::Rest(_));
                    let item = match known {
                        true => Expr::Item(value, position as u32),
                        false => Expr::Element(value),
                    };
                    let item = self.builder.expr(item, span);
                    self.pattern(element, item);
                }
            }
            Pat::TupleStruct(inner) => {
                let holds = inner.path.segments.last().is_some_and(|s| HOLDERS.iter().any(|h| s.ident == h));
                let span = self.span_of(value);
                if !holds {
                    self.components(&inner.path);
                }
                for (position, element) in inner.elems.into_iter().enumerate() {
                    if matches!(element, Pat::Wild(_) | Pat::Rest(_)) {
                        continue;
                    }
                    let part = match holds {
                        true => Expr::Same(value),
                        false => Expr::Attr { base: value, name: position.to_string() },
                    };
                    let part = self.builder.expr(part, span);
                    self.pattern(element, part);
                }
            }
            Pat::Struct(inner) => {
                for field in inner.fields {
                    let name = match &field.member {
                        Member::Named(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    let span = self.span_of(value);
                    let part = self.builder.expr(Expr::Attr { base: value, name }, span);
                    self.pattern(*field.pat, part);
                }
            }
            _ => {}
        }
    }

    /// Binds a variable in a scope of its own, so that a closure made before it does not see it.
    pub(super) fn bind_here(&mut self, name: &str, cell: CellId) {
        let scope = self.scope;
        self.scopes.bind(scope, name, cell);
    }

    /// What holds of a value where a pattern matches it: a condition, and its truth.
    pub(super) fn tested(&mut self, pattern: &Pat, value: ExprId) -> (ExprId, bool) {
        let span = self.span_of(value);
        let mut pattern = pattern;
        for _ in 0..8 {
            match pattern {
                Pat::TupleStruct(inner) if inner.elems.len() == 1 => {
                    if inner.path.segments.last().is_some_and(|s| s.ident == "Err") {
                        return (value, false);
                    }
                    match inner.elems.first() {
                        Some(only @ (Pat::Lit(_) | Pat::TupleStruct(_) | Pat::Ident(_))) => pattern = only,
                        _ => return (value, true),
                    }
                }
                Pat::Lit(literal) => {
                    let right = self.literal(&literal.lit);
                    let left = value;
                    let test = Expr::Binary { op: BinaryOp::Equal, left, right };
                    return (self.builder.expr(test, span), true);
                }
                Pat::Ident(ident) if ident.ident == "None" => return (value, false),
                Pat::Path(path) if path.path.is_ident("None") => return (value, false),
                Pat::Path(path) => {
                    let right = self.path(&path.path, Wanted::Value);
                    let test = Expr::Binary { op: BinaryOp::Equal, left: value, right };
                    return (self.builder.expr(test, span), true);
                }
                Pat::Guard(inner) => pattern = &inner.pat,
                Pat::Paren(inner) => pattern = &inner.pat,
                Pat::Reference(inner) => pattern = &inner.pat,
                _ => return (value, true),
            }
        }
        (value, true)
    }
}
