//! Assignment: to names, members, elements and nested patterns; and what it exports in a
//! CommonJS module.

use tree_sitter::Node;

use super::bindings;
use super::lower::Lowering;
use crate::base::ir::{Expr, ExprId, Slot, Store};
use crate::lang::builder::ScopeId;
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// `left = right`.
    pub(super) fn assignment(&mut self, node: Node<'t>) -> ExprId {
        // `a = b = value`: assign from the right.
        let mut targets = Vec::new();
        let mut value_node = node;
        while value_node.kind() == "assignment_expression" {
            let (Some(left), Some(right)) =
                (value_node.child_by_field_name("left"), value_node.child_by_field_name("right"))
            else {
                break;
            };
            targets.push(left);
            value_node = right;
        }
        if let [target] = targets.as_slice()
            && let Some(value) = self.prototype_member(*target, value_node)
        {
            return value;
        }
        let name = targets.last().and_then(|target| self.target_name(*target));
        let value = self.named_value(value_node, name.as_deref());
        for target in targets.into_iter().rev() {
            self.exported_target(target, value);
            self.assign(target, value, None);
        }
        value
    }

    /// The name that a function gets by being assigned.
    fn target_name(&self, target: Node<'t>) -> Option<String> {
        match target.kind() {
            "identifier" => Some(self.slice(target).to_owned()),
            "member_expression" => {
                let object = target.child_by_field_name("object")?;
                let property = self.slice(target.child_by_field_name("property")?);
                match (self.slice(object), property) {
                    ("module", "exports") => None,
                    ("exports" | "module.exports" | "this", _) => Some(property.to_owned()),
                    (object, _) if object.len() <= 80 && !object.contains(['(', '[', '\n', ' ']) => {
                        Some(format!("{object}.{property}"))
                    }
                    _ => Some(property.to_owned()),
                }
            }
            _ => None,
        }
    }

    /// Assigns `value` to a target. `declare`: the scope that names in it are declared in.
    pub(super) fn assign(&mut self, target: Node<'t>, value: ExprId, declare: Option<ScopeId>) {
        self.deeper(target, |this| this.assign_to(target, value, declare));
    }

    fn assign_to(&mut self, target: Node<'t>, value: ExprId, declare: Option<ScopeId>) {
        let span = Self::span(target);
        match target.kind() {
            "identifier" | "shorthand_property_identifier_pattern" | "undefined" => {
                let name = self.slice(target);
                self.watch(name, span);
                self.bind_name(name, value, declare);
            }
            "member_expression" => {
                let (Some(object), Some(property)) =
                    (target.child_by_field_name("object"), target.child_by_field_name("property"))
                else {
                    return;
                };
                let base = self.expression(object);
                let name = self.slice(property);
                self.watch(name, Self::span(property));
                if let Some(_whole) = self.whole_module(base, name) {
                    self.export(super::lower::WHOLE, value);
                    return;
                }
                self.builder.program.stores.push(Store { base, slot: Slot::Attr(name.to_owned()), value });
            }
            "subscript_expression" => {
                let (Some(object), Some(index)) =
                    (target.child_by_field_name("object"), target.child_by_field_name("index"))
                else {
                    return;
                };
                let base = self.expression(object);
                let key = self.expression(index);
                if let Expr::Str(name) = &self.builder.program.exprs[key as usize].expr {
                    let name = name.clone();
                    self.watch(&name, Self::span(index));
                }
                self.builder.program.stores.push(Store { base, slot: Slot::Key(key), value });
            }
            "object_pattern" | "object" => self.destructure_object(target, value, declare),
            "array_pattern" | "array" => self.destructure_array(target, value, declare),
            "assignment_pattern" | "object_assignment_pattern" | "assignment_expression" => {
                let (Some(left), Some(right)) =
                    (target.child_by_field_name("left"), target.child_by_field_name("right"))
                else {
                    return;
                };
                let name = self.slice(left);
                let default = self.named_value(right, Some(name));
                let either = self.builder.expr(Expr::Union(vec![value, default]), span);
                self.assign(left, either, declare);
            }
            "rest_pattern"
            | "spread_element"
            | "parenthesized_expression"
            | "non_null_expression"
            | "as_expression"
            | "satisfies_expression"
            | "type_assertion" => {
                let children = named_children(target);
                let inner =
                    if target.kind() == "type_assertion" { children.last() } else { children.first() };
                if let Some(inner) = inner {
                    self.assign(*inner, value, declare);
                }
            }
            _ => {
                self.expression(target);
            }
        }
    }

    /// Binds a name where it is declared, or where the scopes around say that it belongs.
    pub(super) fn bind_name(&mut self, name: &'s str, value: ExprId, declare: Option<ScopeId>) {
        let scope = match declare {
            Some(scope) => scope,
            None => match self.builder.owner(name) {
                Some(scope) => scope,
                // CommonJS's own names stay what they are.
                None if matches!(name, "exports" | "module" | "require") => {
                    if name == "exports" {
                        self.export(super::lower::WHOLE, value);
                    }
                    return;
                }
                None => 0,
            },
        };
        self.builder.bind_in(scope, name, Some(value));
    }

    fn destructure_object(&mut self, target: Node<'t>, value: ExprId, declare: Option<ScopeId>) {
        for child in named_children(target) {
            let span = Self::span(child);
            match child.kind() {
                "shorthand_property_identifier_pattern" | "shorthand_property_identifier" => {
                    let name = self.slice(child).to_owned();
                    let member = self.builder.expr(Expr::Attr { base: value, name }, span);
                    let name = self.slice(child);
                    self.watch(name, span);
                    self.bind_name(name, member, declare);
                }
                "object_assignment_pattern" | "assignment_expression" | "assignment_pattern" => {
                    let Some(left) = child.child_by_field_name("left") else { continue };
                    let name = self.slice(left).to_owned();
                    let member = self.builder.expr(Expr::Attr { base: value, name }, span);
                    self.assign(child, member, declare);
                }
                "pair_pattern" | "pair" => {
                    let (Some(key), Some(pattern)) =
                        (child.child_by_field_name("key"), child.child_by_field_name("value"))
                    else {
                        continue;
                    };
                    let (key, name) = self.property_key(key);
                    let expr = match name {
                        Some(name) => Expr::Attr { base: value, name },
                        None => Expr::Index { base: value, key },
                    };
                    let member = self.builder.expr(expr, span);
                    self.assign(pattern, member, declare);
                }
                _ => self.assign(child, value, declare),
            }
        }
    }

    fn destructure_array(&mut self, target: Node<'t>, value: ExprId, declare: Option<ScopeId>) {
        // A hole takes a position: count the commas.
        let mut cursor = target.walk();
        let children: Vec<Node<'t>> = target.children(&mut cursor).collect();
        let mut position = 0u32;
        for child in children {
            if child.kind() == "," {
                position = position.saturating_add(1);
                continue;
            }
            if !child.is_named() || child.is_extra() {
                continue;
            }
            let span = Self::span(child);
            let expr = if matches!(child.kind(), "rest_pattern" | "spread_element") {
                Expr::Slice(value, Some(position))
            } else {
                Expr::Item(value, position)
            };
            let item = self.builder.expr(expr, span);
            self.assign(child, item, declare);
        }
    }

    /// The declarations of `var`, `let` and `const`.
    pub(super) fn declarations(&mut self, node: Node<'t>) {
        let is_var = node.kind() == "variable_declaration";
        let scope = if is_var { self.builder.variable_scope(self.builder.scope) } else { self.builder.scope };
        for declarator in named_children(node) {
            let Some(name) = declarator.child_by_field_name("name") else { continue };
            match declarator.child_by_field_name("value") {
                Some(value) => {
                    let hint = (name.kind() == "identifier").then(|| self.slice(name));
                    let value = match hint.filter(|h| self.prototype_owners.contains(h)) {
                        Some(hint) if bindings::is_function(value.kind()) => {
                            self.prototype_class(value, hint)
                        }
                        _ => self.named_value(value, hint),
                    };
                    self.assign(name, value, Some(scope));
                }
                None if !is_var => {
                    let mut names = Vec::new();
                    bindings::pattern_names(name, self.text, &mut names);
                    for name in names {
                        self.builder.bind_in(scope, name, None);
                    }
                }
                None => {}
            }
        }
    }
}
