//! Expressions. Left-deep chains (`a + b + c …`, `a.b().c() …`) are lowered in a loop, so
//! that only real nesting counts against the depth limit.

use tree_sitter::Node;

use super::literal;
use super::lower::Lowering;
use crate::base::ir::{BinaryOp, Call, CallKind, Expr, ExprId, FunctionKind, GuardKind, Slot, Spread, Store};
use crate::lang::syntax::named_children;

/// The inner link of a chain.
fn chained(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "call_expression" => node.child_by_field_name("function"),
        "selector_expression" | "index_expression" | "slice_expression" | "type_assertion_expression" => {
            node.child_by_field_name("operand")
        }
        "parenthesized_expression" => named_children(node).first().copied(),
        "type_instantiation_expression" => node.child_by_field_name("type"),
        _ => None,
    }
}

impl<'s, 't> Lowering<'s, 't> {
    /// Lowers an expression and gives its value.
    pub(super) fn expression(&mut self, node: Node<'t>) -> ExprId {
        match node.kind() {
            "binary_expression" => self.operators(node),
            _ if chained(node).is_some() => self.chain(node),
            _ => match self.deeper(node, |this| this.simple(node)) {
                Some(id) => id,
                None => self.unknown(node),
            },
        }
    }

    fn simple(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            "identifier" | "type_identifier" | "package_identifier" => self.name(node),
            "interpreted_string_literal" | "raw_string_literal" | "rune_literal" => {
                let text = self.slice(node);
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                let value = match node.kind() {
                    "raw_string_literal" => inner.replace('\r', ""),
                    _ => literal::unescape(inner),
                };
                self.builder.expr(Expr::Str(value), span)
            }
            "int_literal" => match literal::integer(self.slice(node)) {
                Some(value) => self.builder.expr(Expr::Int(value), span),
                None => self.unknown(node),
            },
            "true" => self.builder.expr(Expr::Bool(true), span),
            "false" => self.builder.expr(Expr::Bool(false), span),
            "nil" => self.builder.expr(Expr::Null, span),
            "func_literal" => {
                let symbol = self.symbol.clone();
                self.function(node, "", &symbol, FunctionKind::Plain, None)
            }
            "composite_literal" => self.composite(node),
            "literal_value" => self.literal_value(node, None),
            "literal_element" => match named_children(node).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(node),
            },
            "unary_expression" => self.unary(node),
            "type_conversion_expression" => match node.child_by_field_name("operand") {
                Some(operand) => {
                    let value = self.expression(operand);
                    self.builder.expr(Expr::Same(value), span)
                }
                None => self.unknown(node),
            },
            "qualified_type" | "generic_type" | "pointer_type" => match self.type_value(node) {
                Some(value) => value,
                None => self.unknown(node),
            },
            "variadic_argument" => match named_children(node).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(node),
            },
            kind if kind.ends_with("_type") => self.unknown(node),
            _ => {
                for child in named_children(node) {
                    self.expression(child);
                }
                self.unknown(node)
            }
        }
    }

    /// A chain of calls, members, elements and slices, from its innermost base outward.
    fn chain(&mut self, node: Node<'t>) -> ExprId {
        let mut links = vec![node];
        let mut base = node;
        while let Some(inner) = chained(base) {
            if chained(inner).is_some() {
                links.push(inner);
            }
            base = inner;
        }
        let mut value = self.expression(base);
        while let Some(link) = links.pop() {
            value = match self.deeper(link, |this| this.link(link, value)) {
                Some(value) => value,
                None => self.unknown(link),
            };
        }
        value
    }

    fn link(&mut self, node: Node<'t>, base: ExprId) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            "selector_expression" => {
                let Some(field) = node.child_by_field_name("field") else { return self.unknown(node) };
                let name = self.slice(field);
                self.watch(name, Self::span(field));
                self.builder.expr(Expr::Attr { base, name: name.to_owned() }, span)
            }
            "index_expression" => {
                let Some(index) = node.child_by_field_name("index") else { return self.unknown(node) };
                let key = self.expression(index);
                self.builder.expr(Expr::Index { base, key }, span)
            }
            "slice_expression" => {
                let start = node.child_by_field_name("start");
                let from = match start {
                    Some(start) => {
                        self.expression(start);
                        literal::integer(self.slice(start)).and_then(|v| u32::try_from(v).ok())
                    }
                    None => Some(0),
                };
                let end = node.child_by_field_name("end");
                if let Some(end) = end {
                    self.expression(end);
                }
                self.builder.expr(Expr::Slice(base, from.filter(|_| end.is_none())), span)
            }
            "type_assertion_expression" => self.builder.expr(Expr::Same(base), span),
            "call_expression" => self.call(node, base, CallKind::Plain),
            _ => base,
        }
    }

    fn unary(&mut self, node: Node<'t>) -> ExprId {
        let Some(operand) = node.child_by_field_name("operand") else { return self.unknown(node) };
        let span = Self::span(node);
        match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("-") => {
                let value = self.expression(operand);
                self.builder.expr(Expr::Neg(value), span)
            }
            Some("!") => {
                let value = self.expression(operand);
                self.builder.expr(Expr::Not(value), span)
            }
            // Pointers are what they point to.
            Some("&" | "*" | "+") => self.expression(operand),
            Some("<-") => {
                let channel = self.expression(operand);
                self.received(operand);
                self.builder.expr(Expr::Element(channel), span)
            }
            _ => {
                self.expression(operand);
                self.unknown(node)
            }
        }
    }

    /// What follows the receipt of a stop signal runs because the host said stop.
    pub(super) fn received(&mut self, channel: Node<'t>) {
        if self.stop_channels.contains(self.slice(channel)) {
            let told = self.builder.expr(Expr::External("signal.stop".to_owned()), Self::span(channel));
            self.builder.push_guard(GuardKind::AfterLoop(told));
        }
    }

    /// Binary operators, the left spine in a loop.
    fn operators(&mut self, node: Node<'t>) -> ExprId {
        let mut spine = vec![node];
        let mut left = node.child_by_field_name("left");
        while let Some(inner) = left.filter(|n| n.kind() == "binary_expression") {
            spine.push(inner);
            left = inner.child_by_field_name("left");
        }
        let mut value = match left {
            Some(left) => match self.deeper(left, |this| this.expression(left)) {
                Some(value) => value,
                None => self.unknown(left),
            },
            None => self.unknown(node),
        };
        let outer = self.builder.guard;
        while let Some(link) = spine.pop() {
            let op = match link.child_by_field_name("operator").map(|o| o.kind()) {
                Some("+") => BinaryOp::Add,
                Some("==") => BinaryOp::Equal,
                Some("!=") => BinaryOp::NotEqual,
                Some(">") => BinaryOp::Greater,
                Some("<") => BinaryOp::Less,
                Some("&&") => BinaryOp::And,
                Some("||") => BinaryOp::Or,
                _ => BinaryOp::Other,
            };
            match op {
                BinaryOp::And => self.builder.push_guard(GuardKind::Branch(value, true)),
                BinaryOp::Or => self.builder.push_guard(GuardKind::Branch(value, false)),
                _ => {}
            }
            let right = match link.child_by_field_name("right") {
                Some(right) => match self.deeper(right, |this| this.expression(right)) {
                    Some(right) => right,
                    None => self.unknown(right),
                },
                None => self.unknown(link),
            };
            self.builder.guard = outer;
            value = self.builder.expr(Expr::Binary { op, left: value, right }, Self::span(link));
        }
        value
    }

    /// `T{…}`, `[]T{…}`, `map[K]V{…}`.
    fn composite(&mut self, node: Node<'t>) -> ExprId {
        let (Some(declared), Some(body)) =
            (node.child_by_field_name("type"), node.child_by_field_name("body"))
        else {
            return self.unknown(node);
        };
        self.literal_of(node, declared, body)
    }

    fn literal_of(&mut self, node: Node<'t>, declared: Node<'t>, body: Node<'t>) -> ExprId {
        match declared.kind() {
            "map_type" => self.literal_value(body, declared.child_by_field_name("value")),
            "array_type" | "slice_type" | "implicit_length_array_type" => {
                self.literal_value(body, declared.child_by_field_name("element"))
            }
            _ => match self.type_value(declared) {
                Some(callee) => self.structure(node, callee, body),
                None => self.literal_value(body, None),
            },
        }
    }

    /// A struct literal: an instance with its fields stored, which are the arguments for the catalogue.
    fn structure(&mut self, node: Node<'t>, callee: ExprId, body: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let mut args = Vec::new();
        for child in named_children(body) {
            let (name, value) = match child.kind() {
                "keyed_element" => (
                    child.child_by_field_name("key").map(|k| self.slice(k).to_owned()),
                    child.child_by_field_name("value"),
                ),
                _ => (None, Some(child)),
            };
            let Some(value) = value else { continue };
            let value = self.expression(value);
            args.push(crate::base::ir::Arg { value, name, spread: Spread::No });
        }
        let call = Call { callee, args: args.clone().into(), kind: CallKind::New };
        let made = self.builder.expr(Expr::Call(call), span);
        for arg in args {
            if let Some(name) = arg.name {
                self.builder.program.stores.push(Store {
                    base: made,
                    slot: Slot::Attr(name),
                    value: arg.value,
                });
            }
        }
        made
    }

    /// The braces of a list or map literal. `element`: the type that elements may leave out.
    fn literal_value(&mut self, body: Node<'t>, element: Option<Node<'t>>) -> ExprId {
        let span = Self::span(body);
        let children = named_children(body);
        if children.iter().any(|c| c.kind() == "keyed_element") {
            let mut entries = Vec::new();
            for child in children {
                let (Some(key), Some(value)) =
                    (child.child_by_field_name("key"), child.child_by_field_name("value"))
                else {
                    continue;
                };
                let key = self.expression(key);
                entries.push((Some(key), self.element(value, element)));
            }
            return self.builder.expr(Expr::Map(entries), span);
        }
        let items = children.into_iter().map(|c| (self.element(c, element), Spread::No)).collect();
        self.builder.expr(Expr::Seq(items), span)
    }

    fn element(&mut self, node: Node<'t>, declared: Option<Node<'t>>) -> ExprId {
        let inner = match node.kind() {
            "literal_element" => named_children(node).first().copied().unwrap_or(node),
            _ => node,
        };
        match declared {
            Some(declared) if inner.kind() == "literal_value" => {
                match self.deeper(inner, |this| this.literal_of(inner, declared, inner)) {
                    Some(value) => value,
                    None => self.unknown(inner),
                }
            }
            _ => self.expression(inner),
        }
    }
}
