//! Assignment targets: names, attributes, elements and nested patterns.

use super::leaves::identifiers;
use super::lower::Lowering;
use super::tree::{Field, Kind, Node};
use crate::base::ir::{Expr, ExprId, Slot, Store};

impl<'s, 't> Lowering<'s, 't> {
    /// Assigns `value` to a target.
    pub(super) fn assign(&mut self, target: Node<'t>, value: ExprId) {
        if self.deeper(target, |this| this.assign_to(target, value)).is_none() {
            self.too_deep.push(Self::span(target));
        }
    }

    fn assign_to(&mut self, target: Node<'t>, value: ExprId) {
        match target.kind() {
            Kind::Identifier => {
                let name = self.slice(target);
                self.watch(name, Self::span(target));
                self.builder.bind(name, value);
            }
            Kind::Attribute => {
                let (Some(object), Some(attribute)) =
                    (target.field(Field::Object), target.field(Field::Attribute))
                else {
                    return;
                };
                let base = self.expression(object);
                let name = self.slice(attribute);
                self.watch(name, Self::span(attribute));
                self.builder.program.stores.push(Store { base, slot: Slot::Attr(name.to_owned()), value });
            }
            Kind::Subscript => {
                let Some(object) = target.field(Field::Value) else { return };
                let base = self.expression(object);
                let slot = match target.field(Field::Subscript) {
                    Some(key) if key.kind() != Kind::Slice => {
                        self.bind_global(object, key, value);
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
            Kind::PatternList
            | Kind::TuplePattern
            | Kind::ListPattern
            | Kind::ExpressionList
            | Kind::Tuple
            | Kind::List => {
                self.destructure(target, value);
            }
            Kind::ListSplatPattern | Kind::ListSplat => {
                if let Some(inner) = target.children().next() {
                    self.assign(inner, value);
                }
            }
            Kind::AsPatternTarget | Kind::Parenthesized => {
                for inner in target.children() {
                    self.assign(inner, value);
                }
            }
            _ => {
                self.expression(target);
            }
        }
    }

    /// `globals()["name"] = value` binds a name of the module.
    fn bind_global(&mut self, object: Node<'t>, key: Node<'t>, value: ExprId) {
        let is_globals = self.slice(object) == "globals()";
        let name = self.slice(key).trim_matches(['"', '\'']);
        if is_globals && key.kind() == Kind::String && identifiers(name).eq([name]) {
            self.builder.bind_in(0, name, Some(value));
        }
    }

    fn destructure(&mut self, target: Node<'t>, value: ExprId) {
        let mut after_star = false;
        for (position, child) in target.children().enumerate() {
            let span = Self::span(child);
            let item = if matches!(child.kind(), Kind::ListSplatPattern | Kind::ListSplat) {
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
