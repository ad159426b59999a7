//! Assignment targets: names, attributes, elements and nested patterns.

use tree_sitter::Node;

use super::lower::Lowering;
use crate::base::ir::{Expr, ExprId, Slot, Store};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// Assigns `value` to a target.
    pub(super) fn assign(&mut self, target: Node<'t>, value: ExprId) {
        if self.deeper(target, |this| this.assign_to(target, value)).is_none() {
            self.too_deep.push(Self::span(target));
        }
    }

    fn assign_to(&mut self, target: Node<'t>, value: ExprId) {
        match target.kind() {
            "identifier" => {
                let name = self.slice(target);
                self.watch(name, Self::span(target));
                self.builder.bind(name, value);
            }
            "attribute" => {
                let (Some(object), Some(attribute)) =
                    (target.child_by_field_name("object"), target.child_by_field_name("attribute"))
                else {
                    return;
                };
                let base = self.expression(object);
                let name = self.slice(attribute);
                self.watch(name, Self::span(attribute));
                self.builder.program.stores.push(Store { base, slot: Slot::Attr(name.to_owned()), value });
            }
            "subscript" => {
                let Some(object) = target.child_by_field_name("value") else { return };
                let base = self.expression(object);
                let slot = match target.child_by_field_name("subscript") {
                    Some(key) if key.kind() != "slice" => {
                        // `globals()["name"] = …` is a use of the name: lower the lookup too.
                        let lookup = self.expression(target);
                        match self.builder.program.exprs[lookup as usize].expr {
                            Expr::Index { key, .. } => Slot::Key(key),
                            _ => Slot::Any,
                        }
                    }
                    _ => Slot::Any,
                };
                self.builder.program.stores.push(Store { base, slot, value });
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" | "expression_list" | "tuple" | "list" => {
                self.destructure(target, value);
            }
            "list_splat_pattern" | "list_splat" => {
                if let Some(inner) = named_children(target).first() {
                    self.assign(*inner, value);
                }
            }
            "as_pattern_target" | "parenthesized_expression" => {
                for inner in named_children(target) {
                    self.assign(inner, value);
                }
            }
            _ => {
                self.expression(target);
            }
        }
    }

    fn destructure(&mut self, target: Node<'t>, value: ExprId) {
        let mut after_star = false;
        for (position, child) in named_children(target).into_iter().enumerate() {
            let span = Self::span(child);
            let item = if matches!(child.kind(), "list_splat_pattern" | "list_splat") {
                after_star = true;
                self.builder.expr(Expr::Slice(value, u32::try_from(position).ok()), span)
            } else if after_star {
                self.builder.expr(Expr::Element(value), span)
            } else {
                self.builder.expr(Expr::Item(value, u32::try_from(position).unwrap_or(u32::MAX)), span)
            };
            self.assign(child, item);
        }
    }
}
